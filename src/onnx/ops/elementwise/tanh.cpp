#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_tanh;
constexpr Operator onnx_tanh = {
    .signature = "Tanh(X) -> Y",
    .rule = row<"tanh">,
};

}  // namespace pando::onnx
