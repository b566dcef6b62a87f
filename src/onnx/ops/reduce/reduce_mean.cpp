#include "onnx/operator.h"
#include "onnx/rules/reduction.h"

namespace pando::onnx {

extern const Operator onnx_reduce_mean;
constexpr Operator onnx_reduce_mean = {
    .signature = "ReduceMean(data, axes?; axes: ints, keepdims: int, noop_with_empty_axes: int) -> reduced",
    .rule = reduction<"mean">,
};

}  // namespace pando::onnx
