#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>
#include <numbers>

namespace pando::ir {

extern const OpRow op_erf;
constexpr OpRow op_erf = checked({
    .name = "erf",
    .doc = "The error function, element by element.",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::erf(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto x = formula(g, g.operand(0));
      g.give(0, formula(g, g.grad()) * (-(x * x)).op("exp") * (2 * std::numbers::inv_sqrtpi));
    },
    .samples = unary_samples,
    .elementwise = true,
    .popart_type = "Erf",
});

}  // namespace pando::ir
