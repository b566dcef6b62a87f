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

// The rows of Adam and Lamb, which differ in their names alone: what scales the update comes later.
consteval OpRow adam_row(std::string_view name, std::string_view doc, std::string_view signature) {
  return checked({
      .name = name,
      .doc = doc,
      .signature = signature,
      .module = "var_updates.adam_updater",
      .operands = {{{"acc_first_order", any_numeric},
                    {"acc_second_order", any_numeric},
                    {.name = "weight", .types = any_numeric, .optional = true},
                    {.name = "time_step", .types = any_numeric, .optional = true},
                    {.name = "weight_decay", .types = any_numeric, .optional = true},
                    {.name = "beta1", .types = any_numeric, .optional = true},
                    {.name = "beta2", .types = any_numeric, .optional = true},
                    {.name = "epsilon", .types = any_numeric, .optional = true}}},
      .attributes = {{{"present", AttributeKind::texts, false},
                      {"scalars", AttributeKind::texts, false},
                      {"weight_decay", AttributeKind::number, false},
                      {"beta1", AttributeKind::number, false},
                      {"beta2", AttributeKind::number, false},
                      {"epsilon", AttributeKind::number, false}}},
      .infer = [](Inference& in) { infer_adam(in, {"weight_decay", "beta1", "beta2", "epsilon"}, false); },
      .reference = [](Evaluation& e) { run_adam(e, false); },
      .samples = [] { return adam_samples(false); },
      .modifies_more = adam_modifies,
      .popart_type = "AdamUpdater",
      .subscripts = update_subscripts,
      .phase = OpPhase::update,
  });
}

}  // namespace pando::ir
