// On which tiles to do pieces of work.
#pragma once

#include <poplar/Graph.hpp>

#include <vector>

namespace popnn::internal {

// A run of elements on one tile.
struct TileRun {
  std::size_t begin = 0;
  std::size_t end = 0;
  unsigned tile = 0;
};

// The tile mapping as runs in the order of elements.
std::vector<TileRun> runs_of(const poplar::Graph& graph, const poplar::Tensor& t);

// A tile for each of a number of units of equal work: that of `starts[i]`, the unit's first element, if that is even and uses most
// tiles; otherwise, or without runs, in order over all tiles. `starts` ascends.
std::vector<unsigned> place_units(const std::vector<TileRun>& runs, const std::vector<std::size_t>& starts, std::size_t tiles);

}  // namespace popnn::internal
