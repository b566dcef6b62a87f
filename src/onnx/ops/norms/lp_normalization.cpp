#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_lp_normalization;
constexpr Operator onnx_lp_normalization = {
    .signature = "LpNormalization(input; axis: int, p: int) -> output",
    .rule =
        [](Context& c) {
          const std::int64_t axis = c.axis(-1, c.rank_of(0)), p = c.ranged("p", 2, 1, 2);
          const ValueId x = c.operand(0), norm = c.reduce(p == 1 ? "l1" : "l2", x, {axis}, true);
          const ValueId zero = c.scalar(c.dtype(x), 0);
          c.give(c.where(c.op("equal", {norm, zero}), zero, c.op("div", {x, norm})));
        },
};

}  // namespace pando::onnx
