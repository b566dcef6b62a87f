#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_less;
constexpr Operator onnx_less = {
    .signature = "Less(A, B) -> C",
    .rule = row<"less">,
};

}  // namespace pando::onnx
