#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_l1;
constexpr Operator onnx_reduce_l1 = {
    .signature = "ReduceL1(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"l1">,
};

}  // namespace pando::onnx
