#include "ir/shared/update.h"

#include <algorithm>
#include <cmath>

namespace pando::ir {

void infer_update(Inference& in, std::string_view scalar, bool required) {
  if (in.shape(0) != in.shape(1)) {
    in.reject("different-shapes", "t has shape {}, X {}; they are not broadcast", to_string(in.shape(0)), to_string(in.shape(1)));
  }
  check_scalars(in, 2, {scalar});
  if (required && in.operands() == 2 && !in.attributes().has(scalar)) in.reject("scalar-missing", "it needs {}", scalar);
  same_as_first(in);
}

namespace {

// Integers that meet floats are computed as float32.
bool rounds_integers(const Evaluation& e) {
  const DType t = e.result_type().dtype;
  if (!is_integer(t)) return false;
  for (std::size_t i = 1; i < e.operands(); ++i) {
    if (e.operand(i).dtype() != t) return true;
  }
  return std::any_of(e.attributes().items().begin(), e.attributes().items().end(), [](const auto& item) {
    const double* const v = std::get_if<double>(&item.second);
    return v != nullptr && *v != std::floor(*v);
  });
}

}  // namespace

void mixed_elements(Evaluation& e, const std::function<double(double, double)>& f, bool is_alone) {
  const bool rounds = rounds_integers(e);
  const DType type = e.result_type().dtype;
  const auto read = [&](std::size_t i) { return rounds ? e.operand(i).converted(DType::float32) : e.operand(i); };
  const HostTensor t = read(0), x = is_alone ? t : read(1);
  HostTensor out(rounds ? DType::float32 : type, e.result_type().shape);
  for (std::int64_t i = 0; i < out.elements(); ++i) out.set(i, f(t.number(i), x.number(i)));
  e.result(rounds ? out.converted(type) : out);
}

void update_elements(Evaluation& e, const std::function<double(double, double)>& f) { mixed_elements(e, f); }

std::vector<Sample> update_samples(std::string_view scalar) {
  std::vector<Sample> all;
  for (const DType x : {DType::float32, DType::float16}) {
    Sample number;
    number.operands = {{DType::float32, {3, 4}, -2, 2, {}}, {x, {3, 4}, -2, 2, {}}};
    number.attributes.set(scalar, 0.25);
    Sample tensor = number;
    tensor.operands.push_back({DType::float32, {}, 0.25, 2, {}});
    tensor.attributes = {{"scalars", Strings{std::string(scalar)}}};
    all.push_back(number);
    all.push_back(tensor);
  }
  return all;
}

}  // namespace pando::ir
