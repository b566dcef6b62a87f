#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_sigmoid_grad;
constexpr OpRow op_sigmoid_grad = checked({
    .name = "sigmoid_grad",
    .doc = "The gradient of sigmoid: dy y (1 - y), of the result y.",
    .operands = {{{"y", any_floating}, {"dy", any_floating}}},
    .infer = infer_nonlinearity_grad,
    .reference = map_binary([](double y, double dy) { return dy * y * (1 - y); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto y = formula(g, g.operand(0)), dy = formula(g, g.operand(1)), d = formula(g, g.grad());
      if (g.wants(0)) g.give(0, d * dy * (1.0 - y * 2.0));
      if (g.wants(1)) g.give(1, g.op("sigmoid_grad", {y, d}));
    },
    .expand = [](Expansion& e) {
      const auto y = formula(e, e.operand(0));
      e.result(formula(e, e.operand(1)) * (y * (1.0 - y)));
    },
    .samples = nonlinearity_grad_samples,
    .elementwise = true,
    .popart_type = "SigmoidGrad",
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
