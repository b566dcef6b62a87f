#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_gather_elements;
constexpr Operator onnx_gather_elements = {
    .signature = "GatherElements(data, indices; axis: int) -> output",
    .rule =
        [](Context& c) {
          const std::int64_t axis = c.axis(0, c.rank_of(0)), n = c.shape_of(0)[static_cast<std::size_t>(axis)];
          c.give(c.op("gather_elements", {c.operand(0), c.from_start(c.operand(1), n)}, {{"axis", axis}}));
        },
};

}  // namespace pando::onnx
