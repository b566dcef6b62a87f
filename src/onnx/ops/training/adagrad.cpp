#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_adagrad;
constexpr Operator onnx_adagrad = {
    .signature =
        "ai.onnx.preview.training.Adagrad(R, T, inputs...; decay_factor: float, epsilon: float, norm_coefficient: "
        "float) -> outputs...",
    .rule =
        [](Context& c) {
          const std::size_t n = (c.operands() - 2) / 3;
          if (3 * n + 2 != c.operands()) c.reject(fmt::format("{} operands; two and three for each tensor are expected", c.operands()));
          Values squares;
          for (std::size_t i = 0; i < n; ++i) {
            const ValueId x = c.operand(2 + i);
            const DType t = c.dtype(x);
            const auto number = [&](double v) { return c.scalar(t, v); };
            const ValueId rate =
                c.op("div", {c.cast(c.operand(0), t),
                             c.op("add", {number(1), c.op("mul", {c.cast(c.operand(1), t), number(c.real("decay_factor", 0))})})});
            const ValueId g = c.op("add", {c.op("mul", {x, number(c.real("norm_coefficient", 0))}), c.operand(2 + n + i)});
            const ValueId h = c.op("add", {c.operand(2 + 2 * n + i), c.op("mul", {g, g})});
            c.give(c.op("sub", {x, c.op("div", {c.op("mul", {rate, g}), c.op("add", {c.op("sqrt", {h}), number(c.real("epsilon", 0))})})}));
            squares.push_back(h);
          }
          for (ValueId v : squares) c.give(v);
        },
};

}  // namespace pando::onnx
