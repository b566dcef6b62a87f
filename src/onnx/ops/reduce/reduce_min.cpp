#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_min;
constexpr Operator onnx_reduce_min = {
    .signature = "ReduceMin(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"min">,
};

}  // namespace pando::onnx
