#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_max;
constexpr Operator onnx_reduce_max = {
    .signature = "ReduceMax(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"max">,
};

}  // namespace pando::onnx
