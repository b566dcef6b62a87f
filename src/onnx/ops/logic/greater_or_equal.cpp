#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_greater_or_equal;
constexpr Operator onnx_greater_or_equal = {
    .signature = "GreaterOrEqual(A, B) -> C",
    .rule = composed<"greater_equal">,
};

}  // namespace pando::onnx
