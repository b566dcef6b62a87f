#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_scatter_nd;
constexpr Operator onnx_scatter_nd = {
    .signature = "ScatterND(data, indices, updates; reduction: text) -> output",
    .rule =
        [](Context& c) {
          const std::string reduction = c.word("reduction", "none", {"none", "add", "mul", "max", "min"});
          const ValueId v = c.composition("scatter_nd", {c.operand(0), c.operand(1), c.operand(2)}, {{"reduction", reduction}});
          c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
        },
};

}  // namespace pando::onnx
