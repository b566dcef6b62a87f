#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>
#include <functional>

namespace pando::ir {

extern const OpRow op_square;
constexpr OpRow op_square = checked({
    .name = "square",
    .doc = "The element times itself.",
    .operands = {{{"t", any_numeric}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) {
      map_numbers(e, [](double x) { return x * x; }, [](std::int64_t x) { return wrapping(std::multiplies<>(), x, x); });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, g.grad()) * formula(g, g.operand(0)) * 2.0); },
    .samples = unary_samples,
    .elementwise = true,
    .popart_type = "Square",
});

}  // namespace pando::ir
