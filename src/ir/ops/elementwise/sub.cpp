#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <functional>

namespace pando::ir {

extern const OpRow op_sub;
constexpr OpRow op_sub = checked({
    .name = "sub",
    .doc = "lhs - rhs, element by element, with NumPy's broadcasting. Both operands have one element type. Integers wrap.",
    .signature = "sub(lhs: Tensor, rhs: Tensor) -> Tensor",
    .operands = {{{"lhs", any_numeric}, {"rhs", any_numeric}}},
    .infer = broadcast_same_type,
    .reference = [](Evaluation& e) {
      map_pairs(e, [](double a, double b) { return a - b; }, [](std::int64_t a, std::int64_t b) { return wrapping(std::minus<>(), a, b); });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      if (g.wants(0)) g.give(0, g.reduced_to(g.grad(), g.operand_type(0).shape));
      if (g.wants(1)) g.give(1, g.reduced_to(g.op("negate", {g.grad()}), g.operand_type(1).shape));
    },
    .samples = binary_samples,
    .elementwise = true,
    .popart_type = "Sub",
    .subscripts = adding_subscripts,
});

}  // namespace pando::ir
