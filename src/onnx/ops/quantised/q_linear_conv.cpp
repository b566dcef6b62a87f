#include "onnx/operator.h"
#include "onnx/rules/quantise.h"
#include "onnx/rules/windows/integer_convolution.h"
#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

extern const Operator onnx_q_linear_conv;
constexpr Operator onnx_q_linear_conv = {
    .signature =
        "QLinearConv(x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B?; auto_pad: text, "
        "dilations: ints, group: int, kernel_shape: ints, pads: ints, strides: ints) -> y",
    .rule =
        [](Context& c) {
          ValueId sum = integer_convolution(c, 0, 2, 3, 5);
          const std::size_t rank = c.rank(sum) > 0 ? static_cast<std::size_t>(c.rank(sum)) : 0;
          if (c.has(8)) sum = c.op("add", {sum, by_channel(c, c.operand(8), rank)});
          const auto channels = [&](std::size_t i) {
            const ValueId v = c.cast(c.operand(i), DType::float32);
            return ir::elements_of(c.shape(v)) == 1 ? c.reshape(v, {}) : by_channel(c, v, rank);
          };
          const ValueId scale = c.op("div", {c.op("mul", {channels(1), channels(4)}), channels(6)});
          c.give(quantised(c, c.op("mul", {c.cast(sum, DType::float32), scale}), c.scalar(DType::float32, 1), c.reshape(c.operand(7), {}),
                           c.dtype_of(7)));
        },
    .limits = "more than three spatial dimensions",
};

}  // namespace pando::onnx
