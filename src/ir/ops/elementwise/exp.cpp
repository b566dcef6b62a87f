#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_exp;
constexpr OpRow op_exp = checked({
    .name = "exp",
    .doc = "e to the power of each element.",
    .signature = "exp(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::exp(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, g.grad()) * formula(g, g.result())); },
    .samples = unary_samples,
    .elementwise = true,
    .has_in_place = true,
    .popart_type = "Exp",
    .popart_in_place_type = "ExpInplace",
});

}  // namespace pando::ir
