#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_identity;
constexpr Operator onnx_identity = {
    .signature = "Identity(input) -> output",
    .rule = row<"identity">,
};

}  // namespace pando::onnx
