#include "ir/shared/reduction_kind.h"

#include "base/check.h"
#include "ir/error.h"
#include "ir/meaning/extreme.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace pando::ir {

namespace {

constexpr std::array<std::string_view, 8> kKinds = {"add", "mean", "mul", "min", "max", "and", "or", "square_add"};

template <class T>
T combine(const std::string& op, const std::vector<T>& v) {
  T all = v[0];
  if (op == "square_add") all = v[0] * v[0];
  for (std::size_t i = 1; i < v.size(); ++i) {
    if (op == "add" || op == "mean") all += v[i];
    if (op == "square_add") all += v[i] * v[i];
    if (op == "mul") all *= v[i];
    if (op == "min") all = smaller(all, v[i]);
    if (op == "max") all = larger(all, v[i]);
    if (op == "and") all = all != 0 && v[i] != 0;
    if (op == "or") all = all != 0 || v[i] != 0;
  }
  return op == "mean" ? all / static_cast<T>(v.size()) : all;
}

}  // namespace

void check_reduction_kind(const Inference& in) {
  const std::string& op = in.attributes().text("op");
  if (std::find(kKinds.begin(), kKinds.end(), op) == kKinds.end()) {
    in.reject("collective-op", "the op '{}'; add, mean, mul, min, max, and, or and square_add are possible", op);
  }
  const bool logical = op == "and" || op == "or";
  for (std::size_t i = 0; i < in.operands(); ++i) {
    if ((in.dtype(i) == DType::boolean) != logical || is_float8(in.dtype(i)))
      in.reject("collective-type", "{} does not combine {}", op, name_of(in.dtype(i)));
  }
}

HostTensor combined(const std::string& op, std::span<const HostTensor* const> parts) {
  HostTensor out(parts[0]->dtype(), parts[0]->shape());
  const bool exact = !is_floating(out.dtype());
  std::vector<double> numbers(parts.size());
  std::vector<std::int64_t> integers(parts.size());
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (exact)
        integers[p] = parts[p]->integer(i);
      else
        numbers[p] = parts[p]->number(i);
    }
    if (exact)
      out.set_integer(i, combine(op, integers));
    else
      out.set(i, combine(op, numbers));
  }
  return out;
}

void only_add_is_differentiable(Gradient& g) {
  const std::string& op = g.attributes().text("op");
  if (op == "add") return;
  reject(ErrorClass::popart, "no-gradient", "{} '{}' combines by '{}'; only 'add' can be differentiated", g.module().row(g.forward()).name,
         g.module().name_of(g.forward()), op);
}

std::int64_t group_size_of(const Inference& in) {
  const std::int64_t n = in.module().replicas(), stride = in.attributes().integer("stride", 1);
  if (stride < 1) in.reject("group-stride", "a stride of {}", stride);
  return ReplicaGrouping(n, stride, in.attributes().integer("group_size", n / stride)).size();
}

std::int64_t shard_size(const Shape& shape, std::int64_t group_size) { return (elements_of(shape) + group_size - 1) / group_size; }

HostTensor shard_of(const HostTensor& t, std::int64_t first, std::int64_t size) {
  HostTensor out(t.dtype(), {size});
  const std::int64_t count = std::clamp<std::int64_t>(t.elements() - first, 0, size);
  const std::size_t bytes = size_of(t.dtype());
  if (count > 0) std::memcpy(out.writable(), t.data() + static_cast<std::size_t>(first) * bytes, static_cast<std::size_t>(count) * bytes);
  return out;
}

void infer_all_reduce(Inference& in) {
  check_reduction_kind(in);
  if (in.operands() == 0) in.reject("collective-empty", "it needs a tensor");
  for (std::size_t i = 0; i < in.operands(); ++i) {
    if (in.shape(i) != in.shape(0) || in.dtype(i) != in.dtype(0)) in.reject("collective-shapes", "the tensors differ in shape or type");
    in.result(in.operand(i));
  }
}

void reduce_all(Evaluation& e) {
  std::vector<const HostTensor*> parts;
  for (std::size_t i = 0; i < e.operands(); ++i) parts.push_back(&e.operand(i));
  const HostTensor all = combined(e.attributes().text("op"), parts);
  for (std::size_t i = 0; i < e.operands(); ++i) e.result(all);
}

std::vector<Sample> all_reduce_samples() {
  Sample s;
  s.operands = {{DType::float32, {2, 3}, -2, 2, {}}, {DType::float32, {2, 3}, -2, 2, {}}, {DType::float32, {2, 3}, -2, 2, {}}};
  s.attributes = {{"op", std::string("add")}};
  Sample max = s;
  max.attributes.set("op", std::string("max"));
  return {s, max};
}

}  // namespace pando::ir
