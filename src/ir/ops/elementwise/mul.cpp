#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <functional>

namespace pando::ir {

extern const OpRow op_mul;
constexpr OpRow op_mul = checked({
    .name = "mul",
    .doc = "lhs times rhs, element by element, with NumPy's broadcasting. Both operands have one element type. Integers wrap.",
    .signature = "mul(lhs: Tensor, rhs: Tensor) -> Tensor",
    .operands = {{{"lhs", any_numeric}, {"rhs", any_numeric}}},
    .infer = broadcast_same_type,
    .reference = [](Evaluation& e) {
      map_pairs(e, [](double a, double b) { return a * b; },
                [](std::int64_t a, std::int64_t b) { return wrapping(std::multiplies<>(), a, b); });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (g.wants(i)) g.give(i, g.reduced_to(g.op("mul", {g.grad(), g.operand(1 - i)}), g.operand_type(i).shape));
      }
    },
    .samples = binary_samples,
    .elementwise = true,
    .popart_type = "Mul",
    .subscripts = scaling_subscripts,
    .product = Product::elements,
});

}  // namespace pando::ir
