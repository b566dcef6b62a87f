#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_neg;
constexpr Operator onnx_neg = {
    .signature = "Neg(X) -> Y",
    .rule = row<"negate">,
};

}  // namespace pando::onnx
