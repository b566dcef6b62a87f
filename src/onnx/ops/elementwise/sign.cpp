#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_sign;
constexpr Operator onnx_sign = {
    .signature = "Sign(X) -> Y",
    .rule = row<"sign">,
};

}  // namespace pando::onnx
