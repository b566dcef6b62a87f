#include "onnx/operator.h"
#include "onnx/rules/products.h"
#include "onnx/rules/quantise.h"

namespace pando::onnx {

extern const Operator onnx_mat_mul_integer;
constexpr Operator onnx_mat_mul_integer = {
    .signature = "MatMulInteger(A, B, a_zero_point?, b_zero_point?) -> Y",
    .rule =
        [](Context& c) {
          // Zero points are a number, or one for each row of A or each column of B.
          const auto rows = [&](ValueId v) { return c.rank(v) == 1 && c.shape(v)[0] != 1 ? c.reshape(v, {c.shape(v)[0], 1}) : v; };
          const ValueId a = whole_numbers(c, 0, 2, rows), b = whole_numbers(c, 1, 3, [](ValueId v) { return v; });
          c.give(product_of_bytes(c, a, b));
        },
};

}  // namespace pando::onnx
