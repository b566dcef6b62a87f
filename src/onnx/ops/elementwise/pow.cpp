#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_pow;
constexpr Operator onnx_pow = {
    .signature = "Pow(X, Y) -> Z",
    .rule =
        [](Context& c) {
          // The result has the base's type, whatever the exponent's: of integers with fractions as exponents, truncated.
          const DType base = c.dtype_of(0), exponent = c.dtype_of(1);
          if (ir::is_integer(base) && ir::is_floating(exponent)) {
            c.give(c.cast(c.op("pow", {c.cast(c.operand(0), DType::float32), c.cast(c.operand(1), DType::float32)}), base));
          } else {
            c.give(c.op("pow", {c.operand(0), c.cast(c.operand(1), base)}));
          }
        },
};

}  // namespace pando::onnx
