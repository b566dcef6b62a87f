#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_softplus;
constexpr Operator onnx_softplus = {
    .signature = "Softplus(X) -> Y",
    .rule = composed<"softplus">,
};

}  // namespace pando::onnx
