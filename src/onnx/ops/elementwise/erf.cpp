#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_erf;
constexpr Operator onnx_erf = {
    .signature = "Erf(X) -> Y",
    .rule = row<"erf">,
};

}  // namespace pando::onnx
