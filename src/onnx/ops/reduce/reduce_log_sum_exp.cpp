#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_log_sum_exp;
constexpr Operator onnx_reduce_log_sum_exp = {
    .signature = "ReduceLogSumExp(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"logsumexp">,
};

}  // namespace pando::onnx
