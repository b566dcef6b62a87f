#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_atan;
constexpr Operator onnx_atan = {
    .signature = "Atan(X) -> Y",
    .rule = composed<"atan">,
};

}  // namespace pando::onnx
