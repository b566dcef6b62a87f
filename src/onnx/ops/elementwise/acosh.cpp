#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_acosh;
constexpr Operator onnx_acosh = {
    .signature = "Acosh(X) -> Y",
    .rule = composed<"acosh">,
};

}  // namespace pando::onnx
