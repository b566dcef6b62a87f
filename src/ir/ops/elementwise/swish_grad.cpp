#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_swish_grad;
constexpr OpRow op_swish_grad = checked({
    .name = "swish_grad",
    .doc = "dy times the derivative of swish at x.",
    .operands = {{{"x", any_floating}, {"dy", any_floating}}},
    .infer = infer_nonlinearity_grad,
    .reference = map_binary([](double x, double dy) {
      const double s = 1 / (1 + std::exp(-x));
      return dy * s * (1 + x * (1 - s));
    }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto x = formula(g, g.operand(0)), dy = formula(g, g.operand(1)), d = formula(g, g.grad());
      if (g.wants(1)) g.give(1, g.op("swish_grad", {x, d}));
      if (!g.wants(0)) return;
      const auto s = x.op("sigmoid");
      g.give(0, d * dy * (s * (1.0 - s) * (x * (1.0 - s * 2.0) + 2.0)));
    },
    .expand = [](Expansion& e) {
      const auto x = formula(e, e.operand(0));
      const auto s = x.op("sigmoid");
      e.result(formula(e, e.operand(1)) * (s * (x * (1.0 - s) + 1.0)));
    },
    .samples = nonlinearity_grad_samples,
    .elementwise = true,
    .popart_type = "SwishGrad",
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
