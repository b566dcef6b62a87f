#include "ir/shared/matmul.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_matmul_pow2scaled;
constexpr OpRow op_matmul_pow2scaled = checked({
    .name = "matmul_pow2scaled",
    .doc = "Matrix product of float8 tensors, as float16, times 2^log2_scale. Shapes as matmul's.",
    .signature =
        "matmul_pow2scaled(lhs: Tensor, rhs: Tensor, log2_scale: Tensor, available_memory_proportion: Optional[float]=None) -> Tensor",
    .module = "matmul",
    .operands = {{{"lhs", any_float8}, {"rhs", any_float8}, {"log2_scale", set_of(DType::int32)}}},
    .attributes = {{{"available_memory_proportion", AttributeKind::number, false}}},
    .infer =
        [](Inference& in) {
          check_log2_scale(in, 2);
          check_matmul_operands(in);
          in.result(DType::float16, *matmul_shape(in.shape(0), in.shape(1)));
        },
    .reference = [](Evaluation& e) { e.result(matmul_product(e, log2_scale_of(e, 2))); },
    .differentiable = Differentiable::rejected,
    .cost = matmul_cost,
    .samples =
        [] {
          Sample s;
          s.operands = {{DType::float8_143, {3, 4}, -2, 2, {}}, {DType::float8_152, {4, 2}, -2, 2, {}}, {DType::int32, {}, 0, 0, {1}}};
          return std::vector{s};
        },
    .popart_type = "MatMul",
    .subscripts = matmul_subscripts,
    .on_matrix_units = true,
});

}  // namespace pando::ir
