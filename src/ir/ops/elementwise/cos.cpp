#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_cos;
constexpr OpRow op_cos = checked({
    .name = "cos",
    .doc = "The cosine of an angle in radians, element by element.",
    .signature = "cos(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::cos(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, -(formula(g, g.grad()) * formula(g, g.operand(0)).op("sin"))); },
    .samples = unary_samples,
    .elementwise = true,
    .popart_type = "Cos",
});

}  // namespace pando::ir
