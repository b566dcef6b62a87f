#include "onnx/operator.h"
#include "onnx/rules/products.h"
#include "onnx/rules/quantise.h"

namespace pando::onnx {

extern const Operator onnx_q_linear_mat_mul;
constexpr Operator onnx_q_linear_mat_mul = {
    .signature = "QLinearMatMul(a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point) -> y",
    .rule =
        [](Context& c) {
          const auto rows = [&](ValueId v) { return c.rank(v) == 1 && c.shape(v)[0] != 1 ? c.reshape(v, {c.shape(v)[0], 1}) : v; };
          const auto same = [](ValueId v) { return v; };
          const ValueId product = c.cast(product_of_bytes(c, whole_numbers(c, 0, 2, rows), whole_numbers(c, 3, 5, same)), DType::float32);
          const ValueId scale =
              c.op("div", {c.op("mul", {c.cast(rows(c.operand(1)), DType::float32), c.cast(c.operand(4), DType::float32)}),
                           c.cast(rows(c.operand(6)), DType::float32)});
          c.give(quantised(c, c.op("mul", {product, scale}), c.scalar(DType::float32, 1), rows(c.operand(7)), c.dtype_of(7)));
        },
    .limits = "data of other types than int8 and uint8",
};

}  // namespace pando::onnx
