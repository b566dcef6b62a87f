#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_ceil;
constexpr Operator onnx_ceil = {
    .signature = "Ceil(X) -> Y",
    .rule = row<"ceil">,
};

}  // namespace pando::onnx
