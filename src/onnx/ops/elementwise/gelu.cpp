#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_gelu;
constexpr Operator onnx_gelu = {
    .signature = "Gelu(X; approximate: text) -> Y",
    .rule =
        [](Context& c) { c.give(c.op(c.word("approximate", "none", {"none", "tanh"}) == "tanh" ? "gelu" : "geluerf", {c.operand(0)})); },
};

}  // namespace pando::onnx
