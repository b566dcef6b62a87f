#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_bitwise_not;
constexpr Operator onnx_bitwise_not = {
    .signature = "BitwiseNot(X) -> Y",
    .rule = row<"bitwise_not">,
};

}  // namespace pando::onnx
