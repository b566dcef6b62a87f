#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_bitwise_or;
constexpr Operator onnx_bitwise_or = {
    .signature = "BitwiseOr(A, B) -> C",
    .rule = row<"bitwise_or">,
};

}  // namespace pando::onnx
