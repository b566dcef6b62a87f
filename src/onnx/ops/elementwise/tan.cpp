#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_tan;
constexpr Operator onnx_tan = {
    .signature = "Tan(X) -> Y",
    .rule = composed<"tan">,
};

}  // namespace pando::onnx
