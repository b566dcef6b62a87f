#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_mean_variance_normalization;
constexpr Operator onnx_mean_variance_normalization = {
    .signature = "MeanVarianceNormalization(X; axes: ints) -> Y",
    .rule =
        [](Context& c) {
          const Ints axes = c.axes("axes", 99, c.rank_of(0)).value_or(Ints{0, 2, 3});
          if (!c.has("axes") && c.rank_of(0) != 4)
            c.reject(fmt::format("data of {} dimensions; 4 are expected without the attribute 'axes'", c.rank_of(0)));
          const ValueId x = c.operand(0), centred = c.op("sub", {x, c.reduce("mean", x, axes, true)});
          const ValueId deviation = c.op("sqrt", {c.reduce("mean", c.op("mul", {centred, centred}), axes, true)});
          c.give(c.op("div", {centred, c.op("add", {deviation, c.scalar(c.dtype(x), 1e-9)})}));
        },
};

}  // namespace pando::onnx
