#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_hard_sigmoid;
constexpr Operator onnx_hard_sigmoid = {
    .signature = "HardSigmoid(X; alpha: float, beta: float) -> Y",
    .rule = composed<"hard_sigmoid">,
};

}  // namespace pando::onnx
