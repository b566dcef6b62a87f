#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_reciprocal;
constexpr OpRow op_reciprocal = checked({
    .name = "reciprocal",
    .doc = "1 over the element.",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return 1 / x; }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto y = formula(g, g.result());
      g.give(0, -(formula(g, g.grad()) * y * y));
    },
    .samples = positive_unary_samples,
    .elementwise = true,
    .popart_type = "Reciprocal",
});

}  // namespace pando::ir
