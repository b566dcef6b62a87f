#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_sinh;
constexpr Operator onnx_sinh = {
    .signature = "Sinh(X) -> Y",
    .rule = composed<"sinh">,
};

}  // namespace pando::onnx
