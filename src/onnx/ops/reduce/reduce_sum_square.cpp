#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_sum_square;
constexpr Operator onnx_reduce_sum_square = {
    .signature = "ReduceSumSquare(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"sumsquare">,
};

}  // namespace pando::onnx
