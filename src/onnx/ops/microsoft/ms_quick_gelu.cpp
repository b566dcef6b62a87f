#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_ms_quick_gelu;
constexpr Operator onnx_ms_quick_gelu = {
    .signature = "com.microsoft.QuickGelu(X; alpha: float) -> Y",
    .rule = [](Context& c) { c.give(c.composition("silu", {c.operand(0)}, {{"alpha", c.real("alpha", 1.702)}})); },
};

}  // namespace pando::onnx
