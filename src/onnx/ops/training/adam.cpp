#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_adam;
constexpr Operator onnx_adam = {
    .signature =
        "ai.onnx.preview.training.Adam(R, T, inputs...; alpha: float, beta: float, epsilon: float, norm_coefficient: "
        "float, norm_coefficient_post: float) -> outputs...",
    .rule =
        [](Context& c) {
          const std::size_t n = (c.operands() - 2) / 4;
          if (4 * n + 2 != c.operands()) c.reject(fmt::format("{} operands; two and four for each tensor are expected", c.operands()));
          const double alpha = c.real("alpha", 0.9), beta = c.real("beta", 0.999);
          Values firsts, seconds;
          for (std::size_t i = 0; i < n; ++i) {
            const ValueId x = c.operand(2 + i);
            const DType t = c.dtype(x);
            const auto number = [&](double v) { return c.scalar(t, v); };
            const auto times = [&](ValueId v, double by) { return c.op("mul", {v, number(by)}); };
            const ValueId g = c.op("add", {times(x, c.real("norm_coefficient", 0)), c.operand(2 + n + i)});
            const ValueId v = c.op("add", {times(c.operand(2 + 2 * n + i), alpha), times(g, 1 - alpha)});
            const ValueId h = c.op("add", {times(c.operand(2 + 3 * n + i), beta), times(c.op("mul", {g, g}), 1 - beta)});
            const ValueId step = c.cast(c.operand(1), t);
            const auto left = [&](double b) { return c.op("sub", {number(1), c.op("pow", {number(b), step})}); };
            const ValueId corrected = c.op("div", {c.op("mul", {c.cast(c.operand(0), t), c.op("sqrt", {left(beta)})}), left(alpha)});
            const ValueId adjusted = c.where(c.op("greater", {step, number(0)}), corrected, c.cast(c.operand(0), t));
            const ValueId now =
                c.op("sub", {x, c.op("div", {c.op("mul", {adjusted, v}), c.op("add", {c.op("sqrt", {h}), number(c.real("epsilon", 0))})})});
            c.give(times(now, 1 - c.real("norm_coefficient_post", 0)));
            firsts.push_back(v);
            seconds.push_back(h);
          }
          for (ValueId v : firsts) c.give(v);
          for (ValueId v : seconds) c.give(v);
        },
};

}  // namespace pando::onnx
