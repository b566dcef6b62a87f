#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_greater;
constexpr Operator onnx_greater = {
    .signature = "Greater(A, B) -> C",
    .rule = row<"greater">,
};

}  // namespace pando::onnx
