#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_xor;
constexpr Operator onnx_xor = {
    .signature = "Xor(A, B) -> C",
    .rule = row<"not_equal">,
};

}  // namespace pando::onnx
