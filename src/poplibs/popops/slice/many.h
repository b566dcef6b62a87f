// Many slices of a tensor at offsets, for multiSlice, gather and scatter.
#pragma once

#include <popops/DynamicSlice.hpp>

#include "poplibs/popops/slice/slice_args.h"
#include "poplibs/popops/slice/table.h"

namespace popops::internal {

// Slice i of `t`, of `sizes` in `dims`, is at offsets[i] ({n, dims.size()}): {n, slice shape}.
poplar::Tensor slice_many(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& offsets, const Dims& dims, const Dims& sizes,
                          Outside outside, poplar::program::Sequence& prog, const SlicePlan& plan, const poplar::OptionFlags& flags,
                          const poplar::DebugContext& debug);
// Those slices of `t` op= s[i], in the order of i.
void update_many(poplar::Graph& graph, const poplar::Tensor& t, const poplar::Tensor& s, const poplar::Tensor& offsets, const Dims& dims,
                 const Dims& sizes, Outside outside, poplar::program::Sequence& prog, const SlicePlan& plan,
                 const poplar::OptionFlags& flags, UpdateOp op, const poplar::Tensor& scale, const poplar::DebugContext& debug);

}  // namespace popops::internal
