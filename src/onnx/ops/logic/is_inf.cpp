#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_is_inf;
constexpr Operator onnx_is_inf = {
    .signature = "IsInf(X; detect_negative: int, detect_positive: int) -> Y",
    .rule =
        [](Context& c) {
          const bool negative = c.flag("detect_negative", true), positive = c.flag("detect_positive", true);
          const ValueId x = c.operand(0), infinite = c.op("isinf", {x}), zero = c.scalar(c.dtype(x), 0);
          if (negative && positive) return c.give(infinite);
          if (!negative && !positive) return c.give(c.full(DType::boolean, c.shape_of(0), 0));
          c.give(c.op("logical_and", {infinite, c.op(positive ? "greater" : "less", {x, zero})}));
        },
};

}  // namespace pando::onnx
