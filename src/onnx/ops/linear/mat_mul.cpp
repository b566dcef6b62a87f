#include "onnx/operator.h"
#include "onnx/rules/products.h"

namespace pando::onnx {

extern const Operator onnx_mat_mul;
constexpr Operator onnx_mat_mul = {
    .signature = "MatMul(A, B) -> Y",
    .rule = [](Context& c) { c.give(exact_matmul(c, c.operand(0), c.operand(1))); },
};

}  // namespace pando::onnx
