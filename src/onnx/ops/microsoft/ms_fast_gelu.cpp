#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_ms_fast_gelu;
constexpr Operator onnx_ms_fast_gelu = {
    .signature = "com.microsoft.FastGelu(X, bias?) -> Y",
    .rule =
        [](Context& c) {
          const ValueId x = c.has(1) ? c.op("add", {c.operand(0), c.operand(1)}) : c.operand(0);
          c.give(c.op("gelu", {x}));
        },
};

}  // namespace pando::onnx
