// What group_norm and its gradient share.
#pragma once

#include "ir/rows/define.h"

#include <initializer_list>

namespace pando::ir {

// (batch, channels, rest ...): groups of `size` elements follow each other.
struct GroupNorm {
  std::int64_t batch = 1, groups = 1, channels = 1, size = 1;
  std::int64_t rest = 1;  // elements of a channel
  std::int64_t channel_of(std::int64_t i) const { return i / rest % channels; }
};

GroupNorm group_norm_of(const Shape& shape, const Attributes& attributes);
// The type of means and deviations: float32 for half.
constexpr DType statistics_type(DType t) { return t == DType::float16 ? DType::float32 : t; }
// Rejects (popart): data without channels, groups that do not divide them, `parameters` that are not one number for each channel.
void check_group_norm(const Inference& in, std::initializer_list<std::size_t> parameters);
std::vector<Sample> group_norm_samples();

// Samples are normalised one by one.
Subscripts norm_subscripts(const SubscriptsOf& o);

}  // namespace pando::ir
