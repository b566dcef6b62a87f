#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_equal;
constexpr Operator onnx_equal = {
    .signature = "Equal(A, B) -> C",
    .rule = row<"equal">,
};

}  // namespace pando::onnx
