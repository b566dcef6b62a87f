#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_p_relu;
constexpr Operator onnx_p_relu = {
    .signature = "PRelu(X, slope) -> Y",
    .rule = composed<"prelu">,
};

}  // namespace pando::onnx
