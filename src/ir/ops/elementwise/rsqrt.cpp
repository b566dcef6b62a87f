#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_rsqrt;
constexpr OpRow op_rsqrt = checked({
    .name = "rsqrt",
    .doc = "1 over the square root, element by element.",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return 1 / std::sqrt(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto y = formula(g, g.result());
      g.give(0, formula(g, g.grad()) * -0.5 * (y * y * y));
    },
    .samples = positive_unary_samples,
    .elementwise = true,
    .popart_type = "Rsqrt",
});

}  // namespace pando::ir
