#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_swish;
constexpr Operator onnx_swish = {
    .signature = "Swish(X; alpha: float) -> Y",
    .rule = composed<"silu">,
};

}  // namespace pando::onnx
