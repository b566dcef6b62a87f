#include "ir/shared/joint_axes.h"

namespace pando::ir {

void infer_joint_axes(Inference& in) {
  const std::int64_t axis = in.attributes().integer("axis");
  if (axis < 0 || axis >= in.operand(0).rank()) in.reject("axis-range", "axis {} is out of range for rank {}", axis, in.operand(0).rank());
  same_as_first(in);
}

void for_each_row(const Evaluation& e, const std::function<void(std::int64_t, std::int64_t)>& f) {
  const Shape& shape = e.operand(0).shape();
  std::int64_t size = 1;
  for (auto d = static_cast<std::size_t>(e.attributes().integer("axis")); d < shape.size(); ++d) size *= shape[d];
  for (std::int64_t begin = 0; begin < e.operand(0).elements(); begin += size) f(begin, begin + size);
}

std::vector<Sample> joint_axes_samples(std::size_t operands) {
  std::vector<Sample> all;
  const auto add = [&](const Shape& shape, std::int64_t axis, DType t) {
    Sample s;
    for (std::size_t i = 0; i < operands; ++i) s.operands.push_back({t, shape, -2, 2, {}});
    s.attributes = {{"axis", axis}};
    all.push_back(s);
  };
  add({3, 5}, 1, DType::float32);
  add({2, 3, 4}, 1, DType::float32);
  add({2, 3, 4}, 0, DType::float32);
  add({4, 6}, 1, DType::float16);
  return all;
}

Subscripts joint_axes_subscripts(const SubscriptsOf& o) {
  Subscripts s = elementwise_subscripts(o);
  for (auto d = static_cast<std::size_t>(o.attributes().integer("axis")); d < o.result().size(); ++d) s.blocked |= std::uint64_t{1} << d;
  return s;
}

}  // namespace pando::ir
