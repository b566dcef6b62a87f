#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_sin;
constexpr OpRow op_sin = checked({
    .name = "sin",
    .doc = "The sine of an angle in radians, element by element.",
    .signature = "sin(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::sin(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, g.grad()) * formula(g, g.operand(0)).op("cos")); },
    .samples = unary_samples,
    .elementwise = true,
    .popart_type = "Sin",
});

}  // namespace pando::ir
