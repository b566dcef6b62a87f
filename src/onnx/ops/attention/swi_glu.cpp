#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_swi_glu;
constexpr Operator onnx_swi_glu = {
    .signature = "SwiGLU(A, B; alpha: float) -> Y",
    .rule =
        [](Context& c) {
          if (c.shape_of(0) != c.shape_of(1)) c.reject("operands of different shapes");
          c.give(c.op("mul", {c.composition("silu", {c.operand(0)}, {{"alpha", c.real("alpha", 1)}}), c.operand(1)}));
        },
};

}  // namespace pando::onnx
