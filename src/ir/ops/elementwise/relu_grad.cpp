#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_relu_grad;
constexpr OpRow op_relu_grad = checked({
    .name = "relu_grad",
    .doc = "dy where relu's result y is positive, else 0.",
    .operands = {{{"y", any_floating}, {"dy", any_floating}}},
    .infer = infer_nonlinearity_grad,
    .reference = map_binary([](double y, double dy) { return y > 0 ? dy : 0.0; }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      if (g.wants(0)) g.give(0, zeros_like(g, g.operand_type(0)));
      if (g.wants(1)) g.give(1, g.op("relu_grad", {g.operand(0), g.grad()}));
    },
    .expand = [](Expansion& e) {
      const ValueId zero = e.scalar(e.type_of(e.operand(0)).dtype, 0);
      e.result(select(e, e.op("greater", {e.operand(0), zero}), e.operand(1), zero));
    },
    .samples = nonlinearity_grad_samples,
    .elementwise = true,
    .popart_type = "ReluGrad",
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
