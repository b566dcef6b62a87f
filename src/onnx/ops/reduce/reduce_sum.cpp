#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_sum;
constexpr Operator onnx_reduce_sum = {
    .signature = "ReduceSum(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"sum">,
};

}  // namespace pando::onnx
