#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_scatter;
constexpr Operator onnx_scatter = {
    .signature = "Scatter(data, indices, updates; axis: int) -> output",
    .rule =
        [](Context& c) {
          const std::int64_t axis = c.axis(0, c.rank_of(0));
          const ValueId v = c.composition("scatter_elements", {c.operand(0), c.operand(1), c.operand(2)}, {{"axis", axis}});
          c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
        },
};

}  // namespace pando::onnx
