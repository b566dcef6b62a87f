#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_mul;
constexpr Operator onnx_mul = {
    .signature = "Mul(A, B) -> C",
    .rule = row<"mul">,
};

}  // namespace pando::onnx
