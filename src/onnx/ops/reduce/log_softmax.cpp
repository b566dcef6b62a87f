#include "onnx/operator.h"
#include "onnx/rules/softmax.h"

namespace pando::onnx {

extern const Operator onnx_log_softmax;
constexpr Operator onnx_log_softmax = {
    .signature = "LogSoftmax(input; axis: int) -> output",
    .rule = [](Context& c) { normalise_exponentials(c, "log_softmax"); },
};

}  // namespace pando::onnx
