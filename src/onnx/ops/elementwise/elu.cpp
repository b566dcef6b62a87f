#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_elu;
constexpr Operator onnx_elu = {
    .signature = "Elu(X; alpha: float) -> Y",
    .rule = composed<"elu">,
};

}  // namespace pando::onnx
