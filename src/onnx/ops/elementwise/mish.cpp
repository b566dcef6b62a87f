#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_mish;
constexpr Operator onnx_mish = {
    .signature = "Mish(X) -> Y",
    .rule = composed<"mish">,
};

}  // namespace pando::onnx
