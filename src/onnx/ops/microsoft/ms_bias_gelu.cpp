#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_ms_bias_gelu;
constexpr Operator onnx_ms_bias_gelu = {
    .signature = "com.microsoft.BiasGelu(A, B) -> C",
    .rule = [](Context& c) { c.give(c.op("geluerf", {c.op("add", {c.operand(0), c.operand(1)})})); },
};

}  // namespace pando::onnx
