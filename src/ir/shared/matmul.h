// What the matrix products share.
#pragma once

#include "ir/rows/define.h"

#include <optional>

namespace pando::ir {

// The shape of NumPy's matmul; none where the operands do not fit.
std::optional<Shape> matmul_shape(const Shape& lhs, const Shape& rhs);
// Rejects (popart) operands that do not fit or, but for float8, differ in type.
void check_matmul_operands(const Inference& in);
// The product times a factor, rounded once.
HostTensor matmul_product(const Evaluation& e, double factor);
Cost matmul_cost(const Inference& in);

// Scales of float8 products: an int32 scalar operand, -32 to 31 at run time.
void check_log2_scale(const Inference& in, std::size_t operand);
// Scales of casts to and from float8, operand 1: an int32 tensor of one element. Rejects as PopXL does (TypeError, ValueError).
void check_cast_scale(const Inference& in);
// 2^scale. Rejects (runtime) a scale out of range.
double log2_scale_of(const Evaluation& e, std::size_t operand);

// (m,k),(k,n)->(m,n) with batches; a third operand is whole. Sums of parts go through where one operand is some.
Subscripts matmul_subscripts(const SubscriptsOf& o);

}  // namespace pando::ir
