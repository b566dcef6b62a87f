#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_abs;
constexpr Operator onnx_abs = {
    .signature = "Abs(X) -> Y",
    .rule = row<"abs">,
};

}  // namespace pando::onnx
