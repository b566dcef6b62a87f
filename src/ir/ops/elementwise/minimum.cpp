#include "ir/shared/extremes.h"

namespace pando::ir {

extern const OpRow op_minimum;
constexpr OpRow op_minimum = checked({
    .name = "minimum",
    .doc = "The least of the operands, element by element, with NumPy's broadcasting; all have one element type; NaN wins. Its "
           "gradient goes to every operand that equals the result.",
    .operands = {{{.name = "ts", .types = any_numeric, .variadic = true}}},
    .infer = infer_extreme,
    .reference = extreme_of_operands<false>,
    .differentiable = Differentiable::by_gradient,
    .gradient = give_operands_where_equal,
    .samples = extreme_samples,
    .elementwise = true,
    .popart_type = "Min",
});

}  // namespace pando::ir
