#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_sigmoid;
constexpr Operator onnx_sigmoid = {
    .signature = "Sigmoid(X) -> Y",
    .rule = row<"sigmoid">,
};

}  // namespace pando::onnx
