#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_scatter_elements;
constexpr Operator onnx_scatter_elements = {
    .signature = "ScatterElements(data, indices, updates; axis: int, reduction: text) -> output",
    .rule =
        [](Context& c) {
          const std::string reduction = c.word("reduction", "none", {"none", "add", "mul", "max", "min"});
          const std::int64_t axis = c.axis(0, c.rank_of(0));
          const ValueId v =
              c.composition("scatter_elements", {c.operand(0), c.operand(1), c.operand(2)}, {{"axis", axis}, {"reduction", reduction}});
          c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
        },
};

}  // namespace pando::onnx
