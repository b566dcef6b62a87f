#include "ir/shared/extremes.h"

namespace pando::ir {

extern const OpRow op_maximum;
constexpr OpRow op_maximum = checked({
    .name = "maximum",
    .doc = "The largest of the operands, element by element, with NumPy's broadcasting; all have one element type; NaN wins. Its "
           "gradient goes to every operand that equals the result.",
    .signature = "maximum(*ts: Tensor) -> Tensor",
    .module = "max",
    .operands = {{{.name = "ts", .types = any_numeric, .variadic = true}}},
    .infer = infer_extreme,
    .reference = extreme_of_operands<true>,
    .differentiable = Differentiable::by_gradient,
    .gradient = give_operands_where_equal,
    .samples = extreme_samples,
    .elementwise = true,
    .popart_type = "Max",
});

}  // namespace pando::ir
