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

#include <poplar/Target.hpp>

#include <cstddef>
#include <ostream>
#include <tuple>

#include "poplibs/poplin/matmul/options.h"

namespace poplin::internal::matmul {

struct Problem {
  std::size_t groups = 1, m = 0, n = 0, k = 0;
  poplar::Type input, output;
  Options options;
};

struct Block {
  std::size_t groups = 1, m = 1, n = 1, k = 1;
};

enum class Outer { groups, m, n, k };

struct Plan {
  Block block;            // of a tile; the last ones along a dimension may be smaller
  std::size_t k_step = 1;  // of block.k at a time
  Outer outer = Outer::groups;  // the dimension that varies slowest over the tiles
  // What a superstep of the plan costs, and what it takes.
  plan::Cost exchange = 0, multiply = 0, reduce = 0;
  std::size_t memory = 0;  // bytes of a tile for the blocks of one step
  bool fits = true;        // in the proportion asked for
  std::size_t nodes = 0;   // candidates looked at
  plan::Cost cost() const { return exchange + multiply + reduce; }
};

// The grid of a problem with this plan.
struct Grid {
  std::size_t groups, m, n, k;
  std::size_t count() const { return groups * m * n * k; }
};
Grid grid_of(const Problem& problem, const Plan& plan);

// Where the block at this place of the grid is: parts are spread evenly over all tiles.
unsigned tile_of(const Grid& grid, Outer outer, unsigned tiles, std::size_t group, std::size_t m, std::size_t n, std::size_t k);

// Cost and memory of a block; fills everything but `nodes`. k_step is the greatest that fits.
Plan evaluate(const Problem& problem, const poplar::Target& target, const plan::CostModel& model, const Block& block);

// The cheapest plan that fits, or the one that needs least memory if none does. Every dimension has at least one element.
Plan make_plan(const Problem& problem, const poplar::Target& target);

void print(std::ostream& out, const Problem& problem, const Plan& plan, const poplar::Target& target);

}  // namespace poplin::internal::matmul
