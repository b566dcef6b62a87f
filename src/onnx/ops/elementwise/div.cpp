#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_div;
constexpr Operator onnx_div = {
    .signature = "Div(A, B) -> C",
    .rule = row<"div">,
};

}  // namespace pando::onnx
