#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_softsign;
constexpr Operator onnx_softsign = {
    .signature = "Softsign(X) -> Y",
    .rule = composed<"softsign">,
};

}  // namespace pando::onnx
