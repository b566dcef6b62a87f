#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_less_or_equal;
constexpr Operator onnx_less_or_equal = {
    .signature = "LessOrEqual(A, B) -> C",
    .rule = composed<"less_equal">,
};

}  // namespace pando::onnx
