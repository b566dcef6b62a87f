#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_leaky_relu;
constexpr Operator onnx_leaky_relu = {
    .signature = "LeakyRelu(X; alpha: float) -> Y",
    .rule = composed<"leaky_relu">,
};

}  // namespace pando::onnx
