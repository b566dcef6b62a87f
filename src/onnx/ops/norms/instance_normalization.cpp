#include "onnx/operator.h"
#include "onnx/rules/norms.h"
#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

extern const Operator onnx_instance_normalization;
constexpr Operator onnx_instance_normalization = {
    .signature = "InstanceNormalization(input, scale, B; epsilon: float) -> output",
    .rule =
        [](Context& c) {
          const std::size_t rank = c.rank_of(0);
          if (rank < 3) c.reject(fmt::format("data of {} dimensions; a batch, channels and others are expected", rank));
          const ValueId x = c.operand(0);
          const Normalised n = normalised(c, x, axes_from(2, rank), c.real("epsilon", 1e-5), wide_float(c.dtype(x)));
          const ValueId y = c.op("mul", {c.cast(n.y, c.dtype(x)), by_channel(c, c.operand(1), rank)});
          c.give(c.op("add", {y, by_channel(c, c.operand(2), rank)}));
        },
};

}  // namespace pando::onnx
