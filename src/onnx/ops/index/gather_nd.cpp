#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_gather_nd;
constexpr Operator onnx_gather_nd = {
    .signature = "GatherND(data, indices; batch_dims: int) -> output",
    .rule =
        [](Context& c) {
          c.give(c.composition("gather_nd", {c.operand(0), c.operand(1)}, {{"batch_dims", c.ranged("batch_dims", 0, 0, 64)}}));
        },
};

}  // namespace pando::onnx
