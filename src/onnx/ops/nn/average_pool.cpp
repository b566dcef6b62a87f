#include "onnx/operator.h"
#include "onnx/rules/windows/pools.h"

namespace pando::onnx {

extern const Operator onnx_average_pool;
constexpr Operator onnx_average_pool = {
    .signature =
        "AveragePool(X; auto_pad: text, ceil_mode: int, count_include_pad: int, dilations: ints, kernel_shape!: ints, "
        "pads: ints, strides: ints) -> Y",
    .rule =
        [](Context& c) {
          const PooledData d = pooled_data(c);
          const bool counts = c.flag("count_include_pad", false);
          const ValueId y = c.op("average_pool", {c.operand(0)}, pool_attributes(d.plan));
          if (!counts || !d.plan.padded()) return c.give(y);
          const ValueId share = by_place(c, d, c.dtype(y), [](double elements, double padding) { return elements / (elements + padding); });
          c.give(c.op("mul", {y, share}));
        },
};

}  // namespace pando::onnx
