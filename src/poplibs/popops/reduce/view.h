// A tensor as a reduction sees it.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

#include <vector>

#include "poplibs/popops/reduce/pieces.h"

namespace popops::internal {

// The dimensions of a tensor in the order of its memory (as the distances of neighbours tell), those of size 1 left out, neighbours of one
// kind merged.
struct ReductionView {
  poplar::Tensor in;                 // flat
  ViewDims dims;                     // of `in`
  std::vector<unsigned> kept_order;  // dimension i of the output in the view's order is dimension kept_order[i] of the output
  std::size_t outputs = 1, inputs_per_output = 1;
};

// `reduced[d]`: is dimension d of `in` reduced?
ReductionView view_of(const poplar::Tensor& in, const std::vector<bool>& reduced);

// The inverse of a permutation.
std::vector<unsigned> inverse_of(const std::vector<unsigned>& permutation);

// The intervals of `flat` on each tile, cut where the tensor is not contiguous if the parts are long.
std::vector<std::vector<poplar::Interval>> intervals_on_tiles(const poplar::Graph& graph, const poplar::Tensor& flat);

}  // namespace popops::internal
