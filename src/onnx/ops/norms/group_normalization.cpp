#include "onnx/operator.h"
#include "onnx/rules/norms.h"
#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

extern const Operator onnx_group_normalization;
constexpr Operator onnx_group_normalization = {
    .signature = "GroupNormalization(X, scale, bias; epsilon: float, num_groups!: int, stash_type: int) -> Y",
    .rule =
        [](Context& c) {
          const Shape shape = c.shape_of(0);
          if (shape.size() < 2) c.reject(fmt::format("data of {} dimensions; a batch and channels are expected", shape.size()));
          const std::int64_t groups = c.ranged("num_groups", 1, 1, std::max<std::int64_t>(shape[1], 1));
          if (shape[1] % groups != 0) c.reject(fmt::format("{} channels in {} groups", shape[1], groups));
          Shape apart{shape[0], groups, shape[1] / groups};
          apart.insert(apart.end(), shape.begin() + 2, shape.end());
          const ValueId x = c.operand(0);
          const Normalised n = normalised(c, c.reshape(x, apart), axes_from(2, apart.size()), c.real("epsilon", 1e-5), stash_type(c));
          ValueId y = c.cast(n.y, c.dtype(x));
          // Before opset 21 scale and bias are one for each group.
          const bool by_group = c.opset < 21;
          if (!by_group) y = c.reshape(y, shape);
          const std::size_t rank = by_group ? apart.size() : shape.size();
          y = c.op("add", {c.op("mul", {y, by_channel(c, c.operand(1), rank)}), by_channel(c, c.operand(2), rank)});
          c.give(c.reshape(y, shape));
        },
};

}  // namespace pando::onnx
