#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_sub;
constexpr Operator onnx_sub = {
    .signature = "Sub(A, B) -> C",
    .rule = row<"sub">,
};

}  // namespace pando::onnx
