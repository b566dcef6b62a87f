#include "ir/meaning/losses.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_squared_loss_grad;
constexpr OpRow op_squared_loss_grad = checked({
    .name = "squared_loss_grad",
    .doc = "2 (x - y) / n: the gradient of the sum of squared_loss for x.",
    .operands = {{{"x", any_floating}, {"y", any_floating}, {"n", any_numeric}}},
    .infer = infer_squared_loss,
    .reference = [](Evaluation& e) {
      HostTensor out = e.fresh();
      const double n = e.operand(2).number(0);
      for (std::int64_t i = 0; i < out.elements(); ++i) out.set(i, 2 * (e.operand(0).number(i) - e.operand(1).number(i)) / n);
      e.result(std::move(out));
    },
    .expand = [](Expansion& x) {
      const DType type = x.type_of(x.operand(0)).dtype;
      const ValueId n = x.op("cast", {x.operand(2)}, {{"data_type", type}});
      x.result(x.op("div", {x.op("mul", {x.op("sub", {x.operand(0), x.operand(1)}), x.scalar(type, 2)}), n}));
    },
    .in_program_only = true,
    .subscripts = elementwise_subscripts,
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
