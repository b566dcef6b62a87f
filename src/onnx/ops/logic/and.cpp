#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_and;
constexpr Operator onnx_and = {
    .signature = "And(A, B) -> C",
    .rule = row<"logical_and">,
};

}  // namespace pando::onnx
