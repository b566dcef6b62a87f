#include "onnx/operator.h"
#include "onnx/rules/norms.h"

namespace pando::onnx {

extern const Operator onnx_layer_normalization;
constexpr Operator onnx_layer_normalization = {
    .signature = "LayerNormalization(X, Scale, B?; axis: int, epsilon: float, stash_type: int) -> Y, Mean?, InvStdDev?",
    .rule =
        [](Context& c) {
          const std::size_t rank = c.rank_of(0);
          const ValueId x = c.operand(0);
          const Normalised n = normalised(c, x, axes_from(c.axis(-1, rank), rank), c.real("epsilon", 1e-5), stash_type(c));
          ValueId y = c.op("mul", {c.cast(n.y, c.dtype(x)), c.operand(1)});
          if (c.has(2)) y = c.op("add", {y, c.operand(2)});
          c.results = {y, n.mean, n.scale};
        },
};

}  // namespace pando::onnx
