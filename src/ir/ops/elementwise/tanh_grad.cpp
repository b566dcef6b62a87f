#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_tanh_grad;
constexpr OpRow op_tanh_grad = checked({
    .name = "tanh_grad",
    .doc = "The gradient of tanh: dy (1 - y^2), of the result y.",
    .operands = {{{"y", any_floating}, {"dy", any_floating}}},
    .infer = infer_nonlinearity_grad,
    .reference = map_binary([](double y, double dy) { return dy * (1 - y * y); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto y = formula(g, g.operand(0)), dy = formula(g, g.operand(1)), d = formula(g, g.grad());
      if (g.wants(0)) g.give(0, d * dy * y * -2.0);
      if (g.wants(1)) g.give(1, g.op("tanh_grad", {y, d}));
    },
    .expand = [](Expansion& e) {
      const auto y = formula(e, e.operand(0));
      e.result(formula(e, e.operand(1)) * (1.0 - y * y));
    },
    .samples = nonlinearity_grad_samples,
    .elementwise = true,
    .popart_type = "TanhGrad",
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
