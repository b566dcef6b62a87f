#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_sqrt;
constexpr Operator onnx_sqrt = {
    .signature = "Sqrt(X) -> Y",
    .rule = row<"sqrt">,
};

}  // namespace pando::onnx
