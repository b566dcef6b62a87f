#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_atanh;
constexpr Operator onnx_atanh = {
    .signature = "Atanh(X) -> Y",
    .rule = composed<"atanh">,
};

}  // namespace pando::onnx
