#include "ir/meaning/losses.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_squared_loss;
constexpr OpRow op_squared_loss = checked({
    .name = "squared_loss",
    .doc = "(x - y)^2 / n, element by element; n is a scalar of any numeric type (the size of the whole batch).",
    .operands = {{{"x", any_floating}, {"y", any_floating}, {"n", any_numeric}}},
    .infer = infer_squared_loss,
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const double n = e.operand(2).number(0);
      for (std::int64_t i = 0; i < out.elements(); ++i) {
        const double d = e.operand(0).number(i) - e.operand(1).number(i);
        out.set(i, d * d / n);
      }
      e.result(std::move(out));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const ValueId d = g.op("mul", {g.op("squared_loss_grad", {g.operand(0), g.operand(1), g.operand(2)}), g.grad()});
      if (g.wants(0)) g.give(0, d);
      if (g.wants(1)) g.give(1, g.op("negate", {d}));
    },
    .expand = [](Expansion& x) {
      const ValueId n = x.op("cast", {x.operand(2)}, {{"data_type", x.type_of(x.operand(0)).dtype}});
      x.result(x.op("div", {x.op("square", {x.op("sub", {x.operand(0), x.operand(1)})}), n}));
    },
    .in_program_only = true,
    .subscripts = elementwise_subscripts,
});

}  // namespace pando::ir
