#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_shape;
constexpr Operator onnx_shape = {
    .signature = "Shape(data; start: int, end: int) -> shape",
    .rule =
        [](Context& c) {
          const Shape shape = c.shape_of(0);
          const auto rank = static_cast<std::int64_t>(shape.size());
          const auto at = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
          const std::int64_t start = at(c.integer("start", 0)), end = std::max(start, at(c.integer("end", rank)));
          const std::vector<std::int64_t> part(shape.begin() + start, shape.begin() + end);
          c.give_known(0, HostTensor::of_ints(DType::int64, {end - start}, part));
        },
};

}  // namespace pando::onnx
