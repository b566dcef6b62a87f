#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_log1p;
constexpr OpRow op_log1p = checked({
    .name = "log1p",
    .doc = "The natural logarithm of 1 + x, exact near 0.",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::log1p(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, g.grad()) / (1.0 + formula(g, g.operand(0)))); },
    .samples = positive_unary_samples,
    .elementwise = true,
    .popart_type = "Log1p",
});

}  // namespace pando::ir
