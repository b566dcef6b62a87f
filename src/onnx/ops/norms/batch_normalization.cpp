#include "onnx/operator.h"
#include "onnx/rules/norms.h"
#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

extern const Operator onnx_batch_normalization;
constexpr Operator onnx_batch_normalization = {
    .signature =
        "BatchNormalization(X, scale, B, input_mean, input_var; epsilon: float, momentum: float, training_mode: int, "
        "spatial: int) -> Y, running_mean?, running_var?, saved_mean?, saved_var?",
    .rule =
        [](Context& c) {
          const std::size_t rank = c.rank_of(0);
          if (rank < 2) c.reject(fmt::format("data of {} dimensions; a batch and channels are expected", rank));
          if (!c.flag("spatial", true)) c.reject("attribute 'spatial' is 0, statistics of each element");
          const bool training = c.flag("training_mode", false);
          if (!training) c.reject_results_from(1, "which only 'training_mode' computes");
          c.reject_results_from(3, "which newer versions do not have");
          for (std::size_t i = 1; i < 5; ++i) {
            if (c.shape_of(i) != Shape{c.shape_of(0)[1]})
              c.reject(
                  fmt::format("operand {} has shape {}; the data have {} channels", i, ir::to_string(c.shape_of(i)), c.shape_of(0)[1]));
          }
          const DType dtype = c.dtype_of(0), wide = wide_float(dtype);
          const auto channels = [&](std::size_t i) { return by_channel(c, c.cast(c.operand(i), wide), rank); };
          const ValueId x = c.cast(c.operand(0), wide);
          ValueId mean, variance;
          if (training) {
            Ints axes{0};
            for (std::size_t d = 2; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
            mean = c.reduce("mean", x, axes, true);
            const ValueId centred = c.op("sub", {x, mean});
            variance = c.reduce("mean", c.op("mul", {centred, centred}), axes, true);
          } else {
            mean = channels(3);
            variance = channels(4);
          }
          const ValueId inverse = c.op("rsqrt", {c.op("add", {variance, c.scalar(wide, c.real("epsilon", 1e-5))})});
          const ValueId normal = c.op("mul", {c.op("sub", {x, mean}), inverse});
          c.give(c.cast(c.op("add", {c.op("mul", {normal, channels(1)}), channels(2)}), dtype));
          if (!training) return;
          const double momentum = c.real("momentum", 0.9);
          for (std::size_t i : {3u, 4u}) {
            const ValueId now = c.reshape(i == 3 ? mean : variance, c.shape_of(i)), before = c.cast(c.operand(i), wide);
            const ValueId mixed =
                c.op("add", {c.op("mul", {before, c.scalar(wide, momentum)}), c.op("mul", {now, c.scalar(wide, 1 - momentum)})});
            c.give(c.cast(mixed, c.dtype_of(i)));
          }
        },
};

}  // namespace pando::onnx
