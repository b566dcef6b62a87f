#include "onnx/operator.h"
#include "onnx/rules/norms.h"

namespace pando::onnx {

extern const Operator onnx_ms_skip_layer_normalization;
constexpr Operator onnx_ms_skip_layer_normalization = {
    .signature =
        "com.microsoft.SkipLayerNormalization(input, skip, gamma, beta?, bias?; epsilon: float) -> output, mean?, "
        "inv_std_var?, input_skip_bias_sum?",
    .rule =
        [](Context& c) {
          ValueId x = c.op("add", {c.operand(0), c.operand(1)});
          if (c.has(4)) x = c.op("add", {x, c.operand(4)});
          const Normalised n = normalised(c, x, {c.rank(x) - 1}, c.real("epsilon", 1e-12), wide_float(c.dtype(x)));
          ValueId y = c.op("mul", {c.cast(n.y, c.dtype(x)), c.operand(2)});
          if (c.has(3)) y = c.op("add", {y, c.operand(3)});
          c.results = {y, {}, {}, x};
        },
};

}  // namespace pando::onnx
