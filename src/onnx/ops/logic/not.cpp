#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_not;
constexpr Operator onnx_not = {
    .signature = "Not(X) -> Y",
    .rule = row<"logical_not">,
};

}  // namespace pando::onnx
