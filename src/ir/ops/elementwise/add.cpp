#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <functional>

namespace pando::ir {

extern const OpRow op_add;
constexpr OpRow op_add = checked({
    .name = "add",
    .doc = "lhs + rhs, element by element, with NumPy's broadcasting. Both operands have one element type.",
    .signature = "add(lhs: Tensor, rhs: Tensor) -> Tensor",
    .operands = {{{"lhs", any_numeric}, {"rhs", any_numeric}}},
    .infer = broadcast_same_type,
    .reference = [](Evaluation& e) {
      map_pairs(e, [](double a, double b) { return a + b; }, [](std::int64_t a, std::int64_t b) { return wrapping(std::plus<>(), a, b); });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (g.wants(i)) g.give(i, g.reduced_to(g.grad(), g.operand_type(i).shape));
      }
    },
    .samples = binary_samples,
    .elementwise = true,
    .has_in_place = true,
    .popart_type = "Add",
    .popart_in_place_type = "AddLhsInplace",
    .subscripts = adding_subscripts,
    .adds = Adds::operands,
});

}  // namespace pando::ir
