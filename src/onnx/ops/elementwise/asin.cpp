#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_asin;
constexpr Operator onnx_asin = {
    .signature = "Asin(X) -> Y",
    .rule = composed<"asin">,
};

}  // namespace pando::onnx
