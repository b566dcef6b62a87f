#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>
#include <functional>

namespace pando::ir {

extern const OpRow op_negate;
constexpr OpRow op_negate = checked({
    .name = "negate",
    .doc = "The element with the other sign. Integers wrap.",
    .signature = "negate(t: Tensor) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) {
      map_numbers(e, [](double x) { return -x; }, [](std::int64_t x) { return wrapping(std::minus<>(), 0, x); });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, -formula(g, g.grad())); },
    .samples = unary_samples,
    .elementwise = true,
    .popart_type = "Neg",
    .subscripts = adding_subscripts,
});

}  // namespace pando::ir
