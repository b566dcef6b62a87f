#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_cos;
constexpr Operator onnx_cos = {
    .signature = "Cos(X) -> Y",
    .rule = row<"cos">,
};

}  // namespace pando::onnx
