#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_exp;
constexpr Operator onnx_exp = {
    .signature = "Exp(X) -> Y",
    .rule = row<"exp">,
};

}  // namespace pando::onnx
