#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_l2;
constexpr Operator onnx_reduce_l2 = {
    .signature = "ReduceL2(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"l2">,
};

}  // namespace pando::onnx
