#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_log_sum;
constexpr Operator onnx_reduce_log_sum = {
    .signature = "ReduceLogSum(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"logsum">,
};

}  // namespace pando::onnx
