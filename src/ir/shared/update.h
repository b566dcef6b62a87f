// What the rows that update variables share.
#pragma once

#include "ir/rows/define.h"
#include "ir/shared/scalars.h"

#include <functional>
#include <string_view>

namespace pando::ir {

// t, X and a scalar: X has t's shape; the result is t's. Rejects (popart) a scalar that is missing where it is required.
void infer_update(Inference& in, std::string_view scalar, bool required);
// f(t, x) for each element of operands 0 and 1 (of operand 0 alone: f(t, t)), in t's type. Integers that meet other types or fractions are
// computed as float32.
void mixed_elements(Evaluation& e, const std::function<double(double t, double x)>& f, bool is_alone = false);
void update_elements(Evaluation& e, const std::function<double(double t, double x)>& f);
std::vector<Sample> update_samples(std::string_view scalar);

}  // namespace pando::ir
