#include "onnx/operator.h"
#include "onnx/rules/norms.h"

namespace pando::onnx {

extern const Operator onnx_simplified_layer_normalization;
constexpr Operator onnx_simplified_layer_normalization = {
    .signature = "SimplifiedLayerNormalization(X, scale; axis: int, epsilon: float, stash_type: int) -> Y",
    .rule =
        [](Context& c) {
          const std::size_t rank = c.rank_of(0);
          const DType dtype = c.dtype_of(0), wide = stash_type(c);
          const ValueId x = c.cast(c.operand(0), wide);
          const ValueId square = c.reduce("mean", c.op("mul", {x, x}), axes_from(c.axis(-1, rank), rank), true);
          const ValueId scale = c.op("rsqrt", {c.op("add", {square, c.scalar(wide, c.real("epsilon", 1e-5))})});
          c.give(c.op("mul", {c.cast(c.op("mul", {x, scale}), dtype), c.operand(1)}));
        },
};

}  // namespace pando::onnx
