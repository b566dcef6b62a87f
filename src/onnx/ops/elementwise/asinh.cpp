#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_asinh;
constexpr Operator onnx_asinh = {
    .signature = "Asinh(X) -> Y",
    .rule = composed<"asinh">,
};

}  // namespace pando::onnx
