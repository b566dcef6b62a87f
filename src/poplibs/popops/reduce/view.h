// A tensor as a reduction sees it.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

#include <vector>

#include "poplibs/popops/reduce/work_items.h"

namespace popops::internal {

// The dimensions of a tensor in the order of its memory, those of size 1 left out, neighbours of one kind merged. What lies in blocks has
// more dimensions than it shows: a row of blocks, the rows of a block, and so on. Distances of neighbours along its first elements tell.
struct ReductionView {
  poplar::Tensor in;                    // flat
  ViewDims dims;                        // of `in`
  std::vector<std::size_t> kept_shape;  // the output's, with its dimensions taken apart as those of `in` are
  std::vector<unsigned> kept_order;     // dimension i of the output in the view's order is dimension kept_order[i] of kept_shape
  std::size_t outputs = 1, inputs_per_output = 1;
};

// `reduced[d]`: is dimension d of `in` reduced? `blocks`: dimensions are taken apart (switch).
ReductionView view_of(const poplar::Tensor& in, const std::vector<bool>& reduced, bool blocks = true);

// The inverse of a permutation.
std::vector<unsigned> inverse_of(const std::vector<unsigned>& permutation);

// The intervals of `flat` on each tile, cut where the tensor is not contiguous if the parts are long: then each `lies_whole`.
struct TileIntervals {
  std::vector<std::vector<poplar::Interval>> of_tile;
  bool lies_whole = false;
};
TileIntervals intervals_on_tiles(const poplar::Graph& graph, const poplar::Tensor& flat);

}  // namespace popops::internal
