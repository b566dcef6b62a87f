#include "onnx/operator.h"
#include "onnx/rules/windows/pools.h"

namespace pando::onnx {

extern const Operator onnx_lp_pool;
constexpr Operator onnx_lp_pool = {
    .signature =
        "LpPool(X; auto_pad: text, ceil_mode: int, dilations: ints, kernel_shape!: ints, p: int, pads: ints, strides: "
        "ints) -> Y",
    .rule =
        [](Context& c) {
          const PooledData d = pooled_data(c);
          const auto p = static_cast<double>(c.ranged("p", 2, 1, 64));
          const ValueId x = c.op("abs", {c.operand(0)});
          const ValueId powers = p == 1 ? x : c.op("pow", {x, c.scalar(c.dtype(x), p)});
          const ValueId mean = c.op("average_pool", {powers}, pool_attributes(d.plan));
          const ValueId sum = c.op("mul", {mean, by_place(c, d, c.dtype(mean), [](double elements, double) { return elements; })});
          c.give(p == 1 ? sum : c.op("pow", {sum, c.scalar(c.dtype(x), 1 / p)}));
        },
};

}  // namespace pando::onnx
