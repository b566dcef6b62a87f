// Meanings and samples that many rows share.
#include "ir/rows/evaluation.h"
#include "ir/rows/inference.h"
#include "ir/rows/sample.h"

#include "base/check.h"
#include "ir/error.h"

#include <algorithm>

namespace pando::ir {

std::int64_t broadcast_index(const Shape& operand, const Shape& out, std::int64_t i) {
  std::int64_t index = 0, stride = 1;
  for (std::size_t d = 0; d < out.size(); ++d) {
    const std::size_t o = out.size() - 1 - d;
    const std::int64_t at = i % out[o];
    i /= out[o];
    if (d >= operand.size()) continue;
    const std::int64_t extent = operand[operand.size() - 1 - d];
    if (extent != 1) index += at * stride;
    stride *= extent;
  }
  return index;
}

void map_elements(Evaluation& e, const std::function<double(double)>& f) {
  HostTensor out = e.fresh();
  const HostTensor& x = e.operand(0);
  for (std::int64_t i = 0; i < out.elements(); ++i) out.set(i, f(x.number(i)));
  e.result(std::move(out));
}

void map_pairs(Evaluation& e, const std::function<double(double, double)>& f,
               const std::function<std::int64_t(std::int64_t, std::int64_t)>& g) {
  HostTensor out = e.fresh();
  const HostTensor &a = e.operand(0), &b = e.operand(1);
  const bool integers = g && !is_floating(a.dtype()) && !is_floating(b.dtype());
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    const std::int64_t x = broadcast_index(a.shape(), out.shape(), i), y = broadcast_index(b.shape(), out.shape(), i);
    if (integers) {
      out.set_integer(i, g(a.integer(x), b.integer(y)));
    } else {
      out.set(i, f(a.number(x), b.number(y)));
    }
  }
  e.result(std::move(out));
}

ReplicaGrouping GroupEvaluation::grouping() const {
  const std::int64_t n = module_.replicas(), stride = attributes().integer("stride", 1);
  return ReplicaGrouping(n, stride, attributes().integer("group_size", n / stride));
}

std::int64_t GroupEvaluation::member(std::size_t replica) const {
  const ReplicaGrouping grouping = this->grouping();
  const auto members = grouping.members(grouping.group_of(numbers_[replica]));
  return std::find(members.begin(), members.end(), numbers_[replica]) - members.begin();
}

std::vector<std::vector<std::size_t>> GroupEvaluation::groups() const {
  const ReplicaGrouping grouping = this->grouping();
  std::vector<std::vector<std::size_t>> all(static_cast<std::size_t>(grouping.groups()));
  for (std::size_t r = 0; r < numbers_.size(); ++r) all[static_cast<std::size_t>(grouping.group_of(numbers_[r]))].push_back(r);
  std::erase_if(all, [](const auto& members) { return members.empty(); });
  for (const auto& members : all) {
    if (static_cast<std::int64_t>(members.size()) == grouping.size()) continue;
    reject(ErrorClass::popart, "replicas-apart", "{} '{}': {} of the {} replicas of its group come; the others took another branch",
           module_.row(op_).name, module_.name_of(op_), members.size(), grouping.size());
  }
  return all;
}

std::vector<NewVersion> new_versions(const Module& module, OpId op) {
  const OpRow& row = module.row(op);
  std::vector<NewVersion> all;
  for (const Modification& m : row.modifies) {
    if (m.operand >= 0) all.push_back({static_cast<std::size_t>(m.operand), static_cast<std::size_t>(m.result)});
  }
  if (all.empty() && module.op(op).in_place && row.view == View::none) all.push_back({0, 0});
  if (row.modifies_more) row.modifies_more(module, op, all);
  return all;
}

ValueId Gradient::reduced_to(ValueId gradient, const Shape& shape) {
  const Shape from = type_of(gradient).shape;
  if (from == shape) return gradient;
  Ints axes;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const bool missing = d + shape.size() < from.size();
    if (missing || (shape[d + shape.size() - from.size()] == 1 && from[d] != 1)) axes.push_back(static_cast<std::int64_t>(d));
  }
  ValueId v = gradient;
  if (!axes.empty()) v = op("sum", {v}, {{"axis", axes}, {"keepdims", true}});
  return type_of(v).shape == shape ? v : op("reshape", {v}, {{"shape", Ints(shape.begin(), shape.end())}});
}

namespace {

Sample sample(std::initializer_list<Shape> shapes, DType dtype, double low, double high, Attributes attributes = {}) {
  Sample s;
  for (const Shape& shape : shapes) s.operands.push_back({dtype, shape, low, high, {}});
  s.attributes = std::move(attributes);
  return s;
}

}  // namespace

std::vector<Sample> unary_samples() {
  std::vector<Sample> all;
  for (DType t : {DType::float32, DType::float16}) {
    for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 5}, Shape{2, 3, 4}}) all.push_back(sample({shape}, t, -2, 2));
  }
  return all;
}

std::vector<Sample> positive_unary_samples() {
  std::vector<Sample> all = unary_samples();
  for (Sample& s : all) {
    s.operands[0].low = 0.1;
    s.operands[0].high = 4;
  }
  return all;
}

std::vector<Sample> binary_samples() {
  std::vector<Sample> all;
  for (DType t : {DType::float32, DType::float16, DType::int32}) {
    const double low = t == DType::int32 ? -20 : 0.5, high = t == DType::int32 ? 20 : 3;
    all.push_back(sample({{3, 5}, {3, 5}}, t, low, high));
    all.push_back(sample({{3, 5}, {5}}, t, low, high));
    all.push_back(sample({{4, 1, 3}, {2, 1}}, t, low, high));
    all.push_back(sample({{}, {6}}, t, low, high));
    all.push_back(sample({{}, {}}, t, low, high));
  }
  return all;
}

std::vector<Sample> reduction_samples() {
  std::vector<Sample> all;
  for (DType t : {DType::float32, DType::float16}) {
    all.push_back(sample({{3, 5}}, t, 0.2, 2, {{"axis", Ints{1}}, {"keepdims", false}}));
    all.push_back(sample({{3, 5}}, t, 0.2, 2, {{"axis", Ints{0}}, {"keepdims", true}}));
    all.push_back(sample({{2, 3, 4}}, t, 0.2, 2, {{"axis", Ints{0, 2}}, {"keepdims", false}}));
    all.push_back(sample({{2, 3}}, t, 0.2, 2, {{"axis", Ints{0, 1}}, {"keepdims", false}}));
  }
  return all;
}

}  // namespace pando::ir
