#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_log;
constexpr OpRow op_log = checked({
    .name = "log",
    .doc = "The natural logarithm, element by element.",
    .signature = "log(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::log(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, g.grad()) / formula(g, g.operand(0))); },
    .samples = positive_unary_samples,
    .elementwise = true,
    .popart_type = "Log",
});

}  // namespace pando::ir
