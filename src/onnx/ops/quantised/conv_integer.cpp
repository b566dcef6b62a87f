#include "onnx/operator.h"
#include "onnx/rules/windows/integer_convolution.h"

namespace pando::onnx {

extern const Operator onnx_conv_integer;
constexpr Operator onnx_conv_integer = {
    .signature =
        "ConvInteger(x, w, x_zero_point?, w_zero_point?; auto_pad: text, dilations: ints, group: int, kernel_shape: "
        "ints, pads: ints, strides: ints) -> y",
    .rule = [](Context& c) { c.give(integer_convolution(c, 0, 2, 1, 3)); },
    .limits = "more than three spatial dimensions",
};

}  // namespace pando::onnx
