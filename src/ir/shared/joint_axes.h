// What softmax and its gradient share: all dimensions from attribute "axis" on count as one.
#pragma once

#include "ir/rows/define.h"

#include <functional>

namespace pando::ir {

// Result 0 like operand 0; rejects (popart) an axis out of range.
void infer_joint_axes(Inference& in);
// The element ranges [begin, end) of operand 0 that belong together.
void for_each_row(const Evaluation& e, const std::function<void(std::int64_t begin, std::int64_t end)>& f);
std::vector<Sample> joint_axes_samples(std::size_t operands);

// The dimensions before the axis.
Subscripts joint_axes_subscripts(const SubscriptsOf& o);

}  // namespace pando::ir
