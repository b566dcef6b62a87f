#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_or;
constexpr Operator onnx_or = {
    .signature = "Or(A, B) -> C",
    .rule = row<"logical_or">,
};

}  // namespace pando::onnx
