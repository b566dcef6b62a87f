#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_acos;
constexpr Operator onnx_acos = {
    .signature = "Acos(X) -> Y",
    .rule = composed<"acos">,
};

}  // namespace pando::onnx
