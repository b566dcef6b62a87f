#include "onnx/operator.h"
#include "onnx/rules/positions.h"

namespace pando::onnx {

extern const Operator onnx_arg_max;
constexpr Operator onnx_arg_max = {
    .signature = "ArgMax(data; axis: int, keepdims: int, select_last_index: int) -> reduced",
    .rule = [](Context& c) { position_of_extreme(c, "argmax"); },
};

}  // namespace pando::onnx
