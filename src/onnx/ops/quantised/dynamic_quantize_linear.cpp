#include "onnx/operator.h"
#include "onnx/rules/quantise.h"

#include <numeric>

namespace pando::onnx {

extern const Operator onnx_dynamic_quantize_linear;
constexpr Operator onnx_dynamic_quantize_linear = {
    .signature = "DynamicQuantizeLinear(x) -> y, y_scale, y_zero_point",
    .rule =
        [](Context& c) {
          const ValueId x = c.operand(0), zero = c.scalar(DType::float32, 0);
          Ints axes(c.rank_of(0));
          std::iota(axes.begin(), axes.end(), 0);
          const ValueId most = c.op("maximum", {c.reduce("max", x, axes, false), zero}),
                        least = c.op("minimum", {c.reduce("min", x, axes, false), zero});
          const ValueId scale = c.op("div", {c.op("sub", {most, least}), c.scalar(DType::float32, 255)});
          const Attributes range{{"min", 0.0}, {"max", 255.0}};
          const ValueId point = c.op("round", {c.op("clip", {c.op("negate", {c.op("div", {least, scale})})}, range)});
          c.give(quantised(c, x, scale, point, DType::uint8));
          c.give(scale);
          c.give(c.cast(point, DType::uint8));
        },
};

}  // namespace pando::onnx
