#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_add;
constexpr Operator onnx_add = {
    .signature = "Add(A, B) -> C",
    .rule = row<"add">,
};

}  // namespace pando::onnx
