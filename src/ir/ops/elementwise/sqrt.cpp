#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_sqrt;
constexpr OpRow op_sqrt = checked({
    .name = "sqrt",
    .doc = "The square root, element by element; NaN of negative elements.",
    .signature = "sqrt(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::sqrt(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, g.grad()) * 0.5 / formula(g, g.result())); },
    .samples = positive_unary_samples,
    .elementwise = true,
    .popart_type = "Sqrt",
});

}  // namespace pando::ir
