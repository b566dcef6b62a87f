#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_reciprocal;
constexpr Operator onnx_reciprocal = {
    .signature = "Reciprocal(X) -> Y",
    .rule = row<"reciprocal">,
};

}  // namespace pando::onnx
