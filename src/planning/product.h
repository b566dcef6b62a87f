// How one grouped product C[g] = A[g] * B[g], A {groups, m, k}, B {groups, k, n}, is cut over tiles.
//
// The tiles form a grid: each has one block of groups x m x n x k. It multiplies its blocks of A and B, in steps of `k_step` where
// its memory does not hold all of k at once, into a block of partial sums; where k is cut over tiles, those are added afterwards.
//
//         n ->                   every A block {m, k} is needed by all tiles of a row of the grid: each of them keeps a piece
//       +----+----+----+         of its rows; every B block {k, n} by a column: each keeps a piece of its columns; every C
//     m | t0 | t1 | t2 |  x k    block is added up by the tiles along k: each adds a piece of its rows.
//       +----+----+----+
//       | t3 | t4 | t5 |
#pragma once

#include <cstddef>
#include <string>

#include "planning/cost_model.h"

namespace pando::planning {

struct Product {
  std::size_t groups = 1, m = 0, n = 0, k = 0;
  ElementType input = ElementType::float_, output = ElementType::float_, partials = ElementType::float_;
  Objective objective = Objective::cycles;
  double memory_proportion = 0.6;  // of a tile's memory, for the blocks of one step
};

struct ProductBlock {
  std::size_t groups = 1, m = 1, n = 1, k = 1;
};

enum class Outer { groups, m, n, k };

struct ProductPlan {
  ProductBlock block;           // of a tile; the last ones along a dimension may be smaller
  std::size_t k_step = 1;       // of block.k at a time
  Outer outer = Outer::groups;  // the dimension that varies slowest over the tiles
  // What a superstep of the plan costs, and what it takes.
  Cost exchange = 0, multiply = 0, reduce = 0;
  std::size_t memory = 0;  // bytes of a tile for the blocks of one step
  bool fits = true;        // in the proportion asked for
  std::size_t nodes = 0;   // candidates looked at
  Cost cost() const { return exchange + multiply + reduce; }
};

// The grid of a product with this plan.
struct ProductGrid {
  std::size_t groups, m, n, k;
  std::size_t count() const { return groups * m * n * k; }
};
ProductGrid grid_of(const Product& product, const ProductPlan& plan);

// Where the block at this place of the grid is: parts are spread evenly over all tiles.
unsigned tile_of(const ProductGrid& grid, Outer outer, unsigned tiles, std::size_t group, std::size_t m, std::size_t n, std::size_t k);

// Cost and memory of a block; fills everything but `nodes`. k_step is the greatest that fits.
ProductPlan evaluate(const Product& product, const CostModel& model, const ProductBlock& block);

// The cheapest plan that fits, or the one that needs least memory if none does. Every dimension has at least one element.
ProductPlan plan_product(const Product& product, const Machine& machine, const Host& host = {});

// What `print` functions of libraries show: lines.
std::string to_string(const Product& product, const ProductPlan& plan, const Machine& machine);

}  // namespace pando::planning
