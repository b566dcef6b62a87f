#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_shrink;
constexpr Operator onnx_shrink = {
    .signature = "Shrink(X; bias: float, lambd: float) -> Y",
    .rule = composed<"shrink">,
};

}  // namespace pando::onnx
