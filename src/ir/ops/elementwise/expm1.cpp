#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_expm1;
constexpr OpRow op_expm1 = checked({
    .name = "expm1",
    .doc = "e to the power of each element, less 1; exact near 0.",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::expm1(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, g.grad()) * (formula(g, g.result()) + 1.0)); },
    .samples = unary_samples,
    .elementwise = true,
    .popart_type = "Expm1",
});

}  // namespace pando::ir
