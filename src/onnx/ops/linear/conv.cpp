#include "onnx/operator.h"
#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

extern const Operator onnx_conv;
constexpr Operator onnx_conv = {
    .signature =
        "Conv(X, W, B?; auto_pad: text, dilations: ints, group: int, kernel_shape: ints, pads: ints, strides: ints) -> "
        "Y",
    .rule =
        [](Context& c) {
          ValueId y = convolution(c, c.operand(0), c.operand(1));
          if (c.has(2)) y = c.op("add", {y, by_channel(c, c.operand(2), c.rank_of(0))});
          c.give(y);
        },
    .limits = "more than three spatial dimensions",
};

}  // namespace pando::onnx
