#include "ir/meaning/elements.h"

#include <limits>

namespace pando::ir {

void infer_nonlinearity_grad(Inference& in) {
  if (in.dtype(0) != in.dtype(1) || in.shape(0) != in.shape(1)) in.reject("gradient-type", "a value and a gradient of different types");
  same_as_first(in);
}

void infer_bool(Inference& in) {
  same_as_first(in);
  in.results()[0].dtype = DType::boolean;
}

Cost movement_cost(const Inference& in) {
  Cost cost;
  for (const Type& t : in.results())
    cost.bytes_written += static_cast<double>(elements_of(t.shape)) * static_cast<double>(size_of(t.dtype));
  cost.bytes_read = cost.bytes_written;
  return cost;
}

std::vector<Sample> kinked_unary_samples() {
  std::vector<Sample> all = unary_samples();
  const std::vector<Sample> more = all;
  for (Sample& s : all) s.operands[0].low = 0.1;
  for (Sample s : more) {
    s.operands[0].high = -0.1;
    all.push_back(s);
  }
  for (Sample s : more) {
    s.smooth = false;
    all.push_back(s);
  }
  return all;
}

std::vector<Sample> special_samples() {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<Sample> all;
  for (DType t : {DType::float32, DType::float16}) {
    Sample s;
    s.operands = {{t, {5}, 0, 0, {1, infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), -0.0}}};
    s.smooth = false;
    all.push_back(s);
  }
  return all;
}

std::vector<Sample> bool_binary_samples() {
  std::vector<Sample> all;
  for (const auto& [a, b] : {std::pair<Shape, Shape>{{3, 5}, {3, 5}}, {{3, 5}, {5}}, {{4, 1, 3}, {2, 1}}, {{}, {}}}) {
    Sample s;
    s.operands = {{DType::boolean, a, -1, 1, {}}, {DType::boolean, b, -1, 1, {}}};
    s.smooth = false;
    all.push_back(s);
  }
  return all;
}

std::vector<Sample> integer_binary_samples(DTypeSet types) {
  std::vector<Sample> all;
  for (std::size_t i = 0; i < kDTypes; ++i) {
    const auto t = static_cast<DType>(i);
    if ((types & set_of(t)) == 0) continue;
    Sample s;
    s.operands = {{t, {2, 3}, 0, 0, {0, 1, 5, 77, 100, 127}}, {t, {3}, 0, 0, {1, 3, 6}}};
    s.smooth = false;
    all.push_back(s);
  }
  return all;
}

std::vector<Sample> comparison_samples() {
  std::vector<Sample> all = binary_samples();
  for (Sample s : bool_binary_samples()) all.push_back(s);
  Sample ties;
  ties.operands = {{DType::int32, {5}, 0, 0, {1, 2, 3, -4, 5}}, {DType::int32, {5}, 0, 0, {1, 3, 2, -4, 5}}};
  all.push_back(ties);
  for (Sample& s : all) s.smooth = false;
  return all;
}

std::vector<Sample> nonlinearity_grad_samples() {
  std::vector<Sample> all = kinked_unary_samples();
  for (Sample& s : all) s.operands.push_back(s.operands[0]);
  return all;
}

}  // namespace pando::ir
