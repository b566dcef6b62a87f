#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_sin;
constexpr Operator onnx_sin = {
    .signature = "Sin(X) -> Y",
    .rule = row<"sin">,
};

}  // namespace pando::onnx
