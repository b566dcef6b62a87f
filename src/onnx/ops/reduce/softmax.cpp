#include "onnx/rules/softmax.h"
#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_softmax;
constexpr Operator onnx_softmax = {
    .signature = "Softmax(input; axis: int) -> output",
    .rule = [](Context& c) { normalise_exponentials(c, "softmax_along"); },
};

}  // namespace pando::onnx
