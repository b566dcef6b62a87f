#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_bitwise_xor;
constexpr Operator onnx_bitwise_xor = {
    .signature = "BitwiseXor(A, B) -> C",
    .rule = row<"bitwise_xor">,
};

}  // namespace pando::onnx
