#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_momentum;
constexpr Operator onnx_momentum = {
    .signature =
        "ai.onnx.preview.training.Momentum(R, T, inputs...; alpha!: float, beta!: float, mode!: text, "
        "norm_coefficient!: float) -> outputs...",
    .rule =
        [](Context& c) {
          const std::size_t n = (c.operands() - 2) / 3;
          if (3 * n + 2 != c.operands()) c.reject(fmt::format("{} operands; two and three for each tensor are expected", c.operands()));
          const std::string mode = c.word("mode", "", {"standard", "nesterov"});
          Values momenta;
          for (std::size_t i = 0; i < n; ++i) {
            const ValueId x = c.operand(2 + i), before = c.operand(2 + 2 * n + i);
            const DType t = c.dtype(x);
            const auto times = [&](ValueId v, double by) { return c.op("mul", {v, c.scalar(t, by)}); };
            const ValueId g = c.op("add", {times(x, c.real("norm_coefficient", 0)), c.operand(2 + n + i)});
            // The first step takes the gradient whole.
            const ValueId first = c.op("equal", {c.cast(c.operand(1), DType::int32), c.scalar(DType::int32, 0)});
            const ValueId beta = c.where(first, c.scalar(t, 1), c.scalar(t, c.real("beta", 0)));
            const ValueId v = c.op("add", {times(before, c.real("alpha", 0)), c.op("mul", {beta, g})});
            const ValueId step = mode == "standard" ? v : c.op("add", {g, times(v, c.real("alpha", 0))});
            c.give(c.op("sub", {x, c.op("mul", {c.cast(c.operand(0), t), step})}));
            momenta.push_back(v);
          }
          for (ValueId v : momenta) c.give(v);
        },
};

}  // namespace pando::onnx
