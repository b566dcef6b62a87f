// What the pooling rows share.
#pragma once

#include "ir/rows/define.h"
#include "ir/shared/windows/windows.h"

namespace pando::ir {

// Images (batch times channels) of `ins` elements become images of `outs`.
struct Pooling {
  std::int64_t images = 1, ins = 1, outs = 1;
  Windows windows;
};

Pooling pooling_of(const Attributes& attributes, const Shape& shape);
Shape pooled_shape(const Attributes& attributes, const Shape& shape);
// Rejects (popart): other ranks than 3 to 5, windows that do not fit, out_pads.
Shape pooled_shape(const Inference& in, const Shape& shape);
// Rejects (popart) a gradient that is not of shape `y`.
void check_pooled(const Inference& in, std::size_t operand, const Shape& y);
std::vector<Sample> pooling_samples();

}  // namespace pando::ir
