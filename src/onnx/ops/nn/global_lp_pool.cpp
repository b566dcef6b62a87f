#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_global_lp_pool;
constexpr Operator onnx_global_lp_pool = {
    .signature = "GlobalLpPool(X; p: int) -> Y",
    .rule =
        [](Context& c) {
          const auto p = static_cast<double>(c.ranged("p", 2, 1, 64));
          Ints axes;
          for (std::size_t d = 2; d < c.rank_of(0); ++d) axes.push_back(static_cast<std::int64_t>(d));
          const ValueId x = c.op("abs", {c.operand(0)});
          const ValueId sum = c.reduce("sum", c.op("pow", {x, c.scalar(c.dtype(x), p)}), axes, true);
          c.give(c.op("pow", {sum, c.scalar(c.dtype(x), 1 / p)}));
        },
};

}  // namespace pando::onnx
