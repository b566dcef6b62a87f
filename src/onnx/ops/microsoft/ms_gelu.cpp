#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_ms_gelu;
constexpr Operator onnx_ms_gelu = {
    .signature = "com.microsoft.Gelu(X) -> Y",
    .rule = row<"geluerf">,
};

}  // namespace pando::onnx
