// What the rows of Adam, Lamb and AdaMax share.
//
// Operands: first and second order accumulators, then those of weight and time_step that attribute "present" names (in that order), then
// the scalars that are tensors. Results: the update, and with a time step its new version, one more than before.
#pragma once

#include "ir/rows/define.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace pando::ir {

// Which operand `name` (weight or time_step) is.
std::optional<std::size_t> adam_tensor(const Attributes& attributes, std::string_view name);
// How many operands come before the scalars.
std::size_t adam_tensors(const Attributes& attributes);

void infer_adam(Inference& in, std::initializer_list<std::string_view> scalars, bool always_corrected);
// `max_norm`: AdaMax, whose second accumulator is a maximum: it is neither corrected nor does it go through a root.
void run_adam(Evaluation& e, bool max_norm);
void adam_modifies(const Module& module, OpId op, std::vector<NewVersion>& all);
std::vector<Sample> adam_samples(bool max_norm);

}  // namespace pando::ir
