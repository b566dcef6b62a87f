#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_relu;
constexpr Operator onnx_relu = {
    .signature = "Relu(X) -> Y",
    .rule = row<"relu">,
};

}  // namespace pando::onnx
