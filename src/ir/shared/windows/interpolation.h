// What interpolate and its gradient share.
#pragma once

#include "ir/rows/define.h"

namespace pando::ir {

// floor(size scale).
std::int64_t resized(std::int64_t size, double scale);
// Rejects (popart): unknown modes, scale factors that are not one positive number for each dimension, results without elements.
Shape interpolated_shape(const Inference& in, const Shape& shape);
// Operand 0 of shape `from` made into `to`, dimension by dimension; `transposed`: of shape `to`, made into `from` by the transposed map.
HostTensor interpolated(const Evaluation& e, const Shape& from, const Shape& to, bool transposed);
// How one dimension is made: row-major (out, in), what each element of the operand gives to each of the result.
std::vector<double> interpolation_matrix(std::int64_t in, std::int64_t out, double scale, const Attributes& attributes);
std::vector<Sample> interpolation_samples();

}  // namespace pando::ir
