// How a table of rows and the looking up of rows are shared out to tiles.
#pragma once

#include <poplar/Target.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <vector>

#include "poplibs/work.h"

namespace popops::internal {

// What is planned: `lookups` rows of a table of rows x columns elements. Columns go to tiles in multiples of `grain`.
struct SliceProblem {
  std::size_t rows = 1;
  std::size_t columns = 1;
  std::size_t lookups = 1;
  std::size_t type_bytes = 4;
  std::size_t grain = 1;
  bool slice = true;    // plan for reading rows
  bool update = false;  // plan for updating rows
  double memory = 0.6;  // share of a tile's memory for temporary data
  bool host = false;    // spare the host's time, not the machine's cycles
};

// Tiles that the rows of a part lie on, at most: each is an operand of each vertex.
constexpr std::size_t kMostHolders = 8;

// The grid: `rows` parts of the rows x `columns` parts of the columns x `lookups` parts of the indices. Part (r, c, l) works on
// rows part r of columns part c for indices part l. The part's table elements are spread evenly over the first kMostHolders of its
// `lookups` tiles, where they are updated too.
struct Partition {
  std::size_t rows = 1;
  std::size_t columns = 1;
  std::size_t lookups = 1;
  std::size_t parts() const { return rows * columns * lookups; }
};

// The partition of least cost: exchange and vertex cycles of the tile with most to do. It uses at least nine tenths of the tiles that
// any partition can use. For the host: what all tiles together take of it. Deterministic; counts candidates, not seconds.
Partition choose_partition(const poplar::Target& target, const SliceProblem& problem);

// Cycles of that partition, as choose_partition sees them; for the host, nanoseconds of one thread.
double cost_of(const poplar::Target& target, const SliceProblem& problem, const Partition& partition);

// Indices that one round may handle, so that indices and slices fit the memory of a tile.
std::size_t lookups_per_round(const poplar::Target& target, const SliceProblem& problem, const Partition& partition);

// Columns as multiples of `grain` elements: at least 16 bytes, all columns if there are fewer.
std::size_t column_grain(std::size_t columns, std::size_t type_bytes);

// Part i of `parts` of n things, in multiples of `grain`: [begin(i), begin(i + 1)).
std::size_t part_begin(std::size_t n, std::size_t grain, std::size_t parts, std::size_t i);

using pando::poplibs::ceil_div;

}  // namespace popops::internal
