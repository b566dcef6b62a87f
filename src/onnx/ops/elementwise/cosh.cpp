#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_cosh;
constexpr Operator onnx_cosh = {
    .signature = "Cosh(X) -> Y",
    .rule = composed<"cosh">,
};

}  // namespace pando::onnx
