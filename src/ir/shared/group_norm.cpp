#include "ir/shared/group_norm.h"

#include <algorithm>

namespace pando::ir {

GroupNorm group_norm_of(const Shape& shape, const Attributes& attributes) {
  GroupNorm n;
  n.batch = shape[0];
  n.channels = shape[1];
  n.groups = attributes.integer("num_groups", 1);
  n.rest = std::max<std::int64_t>(1, elements_of(Shape(shape.begin() + 2, shape.end())));
  n.size = n.channels / n.groups * n.rest;
  return n;
}

void check_group_norm(const Inference& in, std::initializer_list<std::size_t> parameters) {
  const Shape& t = in.shape(0);
  if (t.size() < 2) in.reject("norm-rank", "data of shape {}; they need a batch and channels", to_string(t));
  if (std::find(t.begin(), t.end(), 0) != t.end()) in.reject("norm-empty", "data of shape {} have no mean", to_string(t));
  const std::int64_t groups = in.attributes().integer("num_groups", 1);
  if (groups < 1 || t[1] % groups != 0) in.reject("norm-groups", "{} channels do not divide into {} groups", t[1], groups);
  for (std::size_t i : parameters) {
    if (in.shape(i) != Shape{t[1]}) {
      in.reject("norm-channels", "'{}' has shape {}; the data have {} channels", in.row().operands[i].name, to_string(in.shape(i)), t[1]);
    }
  }
}

std::vector<Sample> group_norm_samples() {
  std::vector<Sample> all;
  const auto add = [&](const Shape& shape, std::int64_t groups, DType t) {
    Sample s;
    s.operands = {{t, shape, -2, 2, {}}, {t, {shape[1]}, 0.5, 1.5, {}}, {t, {shape[1]}, -1, 1, {}}};
    s.attributes = {{"num_groups", groups}, {"eps", 1e-5}};
    all.push_back(s);
  };
  add({2, 6}, 1, DType::float32);
  add({2, 4, 3, 2}, 2, DType::float32);
  add({2, 4, 5}, 4, DType::float32);
  add({2, 8}, 2, DType::float16);
  return all;
}

Subscripts norm_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  put(s.operands[0], 0, 0);
  for (auto& result : s.results) put(result, 0, 0);
  return s;
}

}  // namespace pando::ir
