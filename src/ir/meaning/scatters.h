// What gathers and scatters share.
#pragma once

#include "ir/host_tensor.h"
#include "ir/rows/define.h"

#include <cstdint>
#include <vector>

namespace pando::ir {

// The shape of a scatter's indices as they lie beside its data, with ones where they repeat: indices of one dimension lie along the
// axis, others from the first dimension on. With groups the first dimension is the group of both. Empty where they do not fit.
Shape aligned_indices(const Shape& data, const Shape& indices, std::int64_t axis, bool grouped);

// For each element of `data` the row-major position in `out` that its index names along the axis; -1 outside. `out` differs from the
// data along the axis only.
std::vector<std::int64_t> scatter_targets(const Shape& data, const HostTensor& indices, const Shape& aligned, std::int64_t axis,
                                          const Shape& out);

// Both forms of scatter_reduce; plain: a group size of 1.
void infer_scatter_reduce(Inference& in);
void evaluate_scatter_reduce(Evaluation& e);
void scatter_reduce_gradient(Gradient& g);
std::vector<Sample> scatter_reduce_samples(std::int64_t group_size);

// Shape of gather's result.
Shape gathered_shape(const Shape& t, const Shape& indices, std::int64_t axis, bool grouped);
void infer_gather(Inference& in);
void evaluate_gather(Evaluation& e);
void gather_gradient(Gradient& g);
std::vector<Sample> gather_samples();

// What the axis, the indices and groups leave of the dimensions.
Subscripts gather_subscripts(const SubscriptsOf& o);
Subscripts scatter_reduce_subscripts(const SubscriptsOf& o);
// Of tensors that lie beside their indices, position by position: all dimensions but the axis in which they are equally long.
Subscripts element_index_subscripts(const SubscriptsOf& o);

}  // namespace pando::ir
