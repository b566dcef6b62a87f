#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_hard_swish;
constexpr Operator onnx_hard_swish = {
    .signature = "HardSwish(X) -> Y",
    .rule = composed<"hard_swish">,
};

}  // namespace pando::onnx
