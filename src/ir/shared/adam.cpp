#include "ir/shared/adam.h"

#include "ir/shared/scalars.h"

#include <algorithm>
#include <cmath>

namespace pando::ir {

namespace {

const Strings& present_of(const Attributes& a) {
  static const Strings none;
  const AttributeValue* v = a.find("present");
  return v ? std::get<Strings>(*v) : none;
}

bool is_given(const Inference& in, std::string_view name, std::size_t tensors) {
  return in.attributes().has(name) || scalar_operand(in.attributes(), name, tensors).has_value();
}

}  // namespace

std::optional<std::size_t> adam_tensor(const Attributes& attributes, std::string_view name) {
  const Strings& present = present_of(attributes);
  const auto it = std::find(present.begin(), present.end(), name);
  if (it == present.end()) return std::nullopt;
  return 2 + static_cast<std::size_t>(it - present.begin());
}

std::size_t adam_tensors(const Attributes& attributes) { return 2 + present_of(attributes).size(); }

void infer_adam(Inference& in, std::initializer_list<std::string_view> scalars, bool always_corrected) {
  for (const std::string& name : present_of(in.attributes())) {
    if (name != "weight" && name != "time_step") in.reject("adam-present", "'{}' is said to be present; weight and time_step may be", name);
  }
  const std::size_t tensors = adam_tensors(in.attributes());
  if (in.operands() < tensors) in.reject("operand-count", "{} operands; {} tensors are said to be present", in.operands(), tensors);
  check_scalars(in, tensors, scalars);
  const auto weight = adam_tensor(in.attributes(), "weight"), step = adam_tensor(in.attributes(), "time_step");
  if (in.shape(1) != in.shape(0))
    in.reject("different-shapes", "the accumulators have shapes {} and {}", to_string(in.shape(0)), to_string(in.shape(1)));
  if (weight && in.shape(*weight) != in.shape(0)) {
    in.reject("different-shapes", "the weight has shape {}, the accumulators {}", to_string(in.shape(*weight)), to_string(in.shape(0)));
  }
  if (step && elements_of(in.shape(*step)) != 1)
    in.reject("adam-time-step", "the time step has shape {}; it is one element", to_string(in.shape(*step)));
  if (always_corrected && !step) in.reject("adam-time-step", "it needs a time step");
  if (is_given(in, "weight_decay", tensors) && !weight) in.reject("adam-weight", "a weight decay needs the weight");
  for (std::string_view beta : scalars) {
    if (step && (beta == "beta1" || beta == "beta2") && !is_given(in, beta, tensors)) in.reject("adam-beta", "a time step needs {}", beta);
  }
  same_as_first(in);
  if (step) in.result(in.operand(*step));
}

void run_adam(Evaluation& e, bool max_norm) {
  const Attributes& a = e.attributes();
  const std::size_t tensors = adam_tensors(a);
  const auto weight = adam_tensor(a, "weight"), step = adam_tensor(a, "time_step");
  const double decay = scalar_value(e, "weight_decay", tensors).value_or(0), epsilon = scalar_value(e, "epsilon", tensors).value_or(1e-7);
  double first = 1, second = 1;
  HostTensor time;
  if (step) {
    time = HostTensor(e.operand(*step).dtype(), e.operand(*step).shape());
    time.set(0, e.operand(*step).number(0) + 1);
    first = 1 - std::pow(*scalar_value(e, "beta1", tensors), time.number(0));
    if (!max_norm) second = 1 - std::pow(*scalar_value(e, "beta2", tensors), time.number(0));
  }
  // Updates are computed as float32 and then rounded to another type.
  const DType type = e.result_type().dtype;
  HostTensor out(is_integer(type) ? DType::float32 : type, e.result_type().shape);
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    const double m = e.operand(0).number(i) / first, v = e.operand(1).number(i) / second;
    out.set(i, m / ((max_norm ? v : std::sqrt(v)) + epsilon) + (weight ? decay * e.operand(*weight).number(i) : 0));
  }
  e.result(out.converted(type));
  if (step) e.result(std::move(time));
}

void adam_modifies(const Module& module, OpId op, std::vector<NewVersion>& all) {
  if (const auto step = adam_tensor(module.attributes(op), "time_step")) all.push_back({*step, 1});
}

std::vector<Sample> adam_samples(bool max_norm) {
  Sample plain;
  plain.operands = {{DType::float32, {3, 4}, -1, 1, {}}, {DType::float32, {3, 4}, 0.5, 1, {}}};
  plain.attributes = {{"epsilon", 1e-7}};
  Sample full = plain;
  full.operands.push_back({DType::float32, {3, 4}, -1, 1, {}});
  full.operands.push_back({DType::float32, {}, 0, 0, {2}});
  full.attributes = {{"present", Strings{"weight", "time_step"}}, {"beta1", 0.9}, {"weight_decay", 0.01}, {"epsilon", 1e-5}};
  if (!max_norm) full.attributes.set("beta2", 0.99);
  Sample tensors = full;
  tensors.operands.push_back({DType::float32, {}, 0, 0, {0.02}});
  tensors.operands.push_back({DType::float32, {}, 0, 0, {0.8}});
  tensors.attributes = {{"present", Strings{"weight", "time_step"}}, {"scalars", Strings{"weight_decay", "beta1"}}};
  if (!max_norm) tensors.attributes.set("beta2", 0.99);
  if (max_norm) return {full, tensors};
  return {plain, full, tensors};
}

}  // namespace pando::ir
