// What slice and slice_assign mean by start, stop, step and axis.
#pragma once

#include "ir/rows/define.h"

#include <cstdint>
#include <vector>

namespace pando::ir {

// Of one axis: element i of the slice is element start + i * step.
struct SliceRange {
  std::int64_t start = 0, step = 1, count = 0;
};

// One for each axis of the shape, clipped as Python clips slices.
std::vector<SliceRange> slice_ranges(const Shape& shape, const Attributes& attributes);
Shape sliced_shape(const std::vector<SliceRange>& ranges);
// Row-major position in `shape` of element `i` of the slice.
std::int64_t slice_source(const Shape& shape, const std::vector<SliceRange>& ranges, std::int64_t i);
// Rejects (popart) lists of different lengths, negative axes, steps other than 1 and -1.
void check_slice(const Inference& in);

std::vector<Sample> slice_samples();

}  // namespace pando::ir
