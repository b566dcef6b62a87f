#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>
#include <numbers>

namespace pando::ir {

extern const OpRow op_log2;
constexpr OpRow op_log2 = checked({
    .name = "log2",
    .doc = "The logarithm to base 2: that of base e over the logarithm of 2 in the element type.",
    .signature = "log2(t: Tensor) -> Tensor",
    .module = "log",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::log2(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, g.grad()) / (formula(g, g.operand(0)) * std::numbers::ln2)); },
    .expand = [](Expansion& x) { x.result(formula(x, x.operand(0)).op("log") / std::numbers::ln2); },
    .samples = positive_unary_samples,
    .elementwise = true,
    .popart_type = "Log",
});

}  // namespace pando::ir
