#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_selu;
constexpr Operator onnx_selu = {
    .signature = "Selu(X; alpha: float, gamma: float) -> Y",
    .rule = composed<"selu">,
};

}  // namespace pando::onnx
