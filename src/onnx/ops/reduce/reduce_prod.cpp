#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_prod;
constexpr Operator onnx_reduce_prod = {
    .signature = "ReduceProd(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"prod">,
};

}  // namespace pando::onnx
