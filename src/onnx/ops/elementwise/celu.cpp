#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_celu;
constexpr Operator onnx_celu = {
    .signature = "Celu(X; alpha: float) -> Y",
    .rule = composed<"celu">,
};

}  // namespace pando::onnx
