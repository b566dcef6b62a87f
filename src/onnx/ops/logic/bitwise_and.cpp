#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_bitwise_and;
constexpr Operator onnx_bitwise_and = {
    .signature = "BitwiseAnd(A, B) -> C",
    .rule = row<"bitwise_and">,
};

}  // namespace pando::onnx
