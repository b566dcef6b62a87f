// Gathers and scatters.
#pragma once

#include "lower/parts/op_lowering.h"

#include <vector>

namespace pando::lower {

// Indices as int, which the slicing functions take: negative ones are outside.
poplar::Tensor int_indices(OpLowering& o, const poplar::Tensor& t);
// For each element of a tensor of shape `data` the row-major position in `out` that its index (int, of the same shape) names along the
// axis; -1 outside. {elements, 1}, int.
poplar::Tensor flat_positions(OpLowering& o, const std::vector<std::size_t>& data, const poplar::Tensor& indices, std::size_t axis,
                              const std::vector<std::size_t>& out);
void gather_slices(OpLowering& o);
poplar::Tensor gather_layout(const LayoutRequest& r);
void reduce_scattered(OpLowering& o);

}  // namespace pando::lower
