#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_mod;
constexpr Operator onnx_mod = {
    .signature = "Mod(A, B; fmod: int) -> C",
    .rule =
        [](Context& c) {
          const bool fmod = c.flag("fmod", false);
          if (!fmod && ir::is_floating(c.dtype_of(0)) && c.opset < 28) c.reject("floats need the attribute 'fmod' before opset 28");
          c.give(fmod ? c.op("fmod", {c.operand(0), c.operand(1)}) : c.composition("remainder", {c.operand(0), c.operand(1)}));
        },
};

}  // namespace pando::onnx
