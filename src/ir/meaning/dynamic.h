// Slices whose start is known when the program runs: attributes "axes" and "sizes", the start in an operand.
#pragma once

#include "ir/host_tensor.h"
#include "ir/rows/define.h"

#include <cstdint>
#include <vector>

namespace pando::ir {

// The slice's shape; rejects axes, sizes and a start (operand 1) that do not fit.
Shape dynamic_slice_shape(const Inference& in);
// Row-major position in `shape` of element i of a slice; positions wrap around.
std::int64_t dynamic_source(const Shape& shape, const Shape& slice, const HostTensor& start, const Attributes& attributes, std::int64_t i);

std::vector<Sample> dynamic_slice_samples();

}  // namespace pando::ir
