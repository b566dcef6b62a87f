#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_is_nan;
constexpr Operator onnx_is_nan = {
    .signature = "IsNaN(X) -> Y",
    .rule = row<"isnan">,
};

}  // namespace pando::onnx
