#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_abs;
constexpr OpRow op_abs = checked({
    .name = "abs",
    .doc = "The absolute value, element by element.",
    .signature = "abs(t: Tensor) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) {
      map_numbers(e, [](double x) { return std::fabs(x); }, [](std::int64_t x) { return x < 0 ? wrapping(std::minus<>(), 0, x) : x; });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, g.grad()) * formula(g, g.operand(0)).op("sign")); },
    .samples = kinked_unary_samples,
    .elementwise = true,
    .popart_type = "Abs",
});

}  // namespace pando::ir
