#include "ir/meaning/formula.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <cmath>
#include <numeric>

namespace pando::ir {

extern const OpRow op_l2;
constexpr OpRow op_l2 = checked({
    .name = "l2",
    .doc = "The square root of the sum of the squares along the axes; they stay with length 1 where keepdims says so. Its gradient "
           "at 0 is 0.",
    .signature = "l2(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer = infer_reduction,
    .reference = [](Evaluation& e) {
      reduce_groups(e, [](std::span<const double> v) {
        return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
      });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto y = formula(g, g.result());
      const auto safe = select(g, g.op("equal", {y, y.number(0)}), y.number(1), y);
      g.give(0, formula(g, spread(g, formula(g, g.grad()) / safe)) * formula(g, g.operand(0)));
    },
    .cost = reduction_cost,
    .samples = reduction_samples,
    .popart_type = "ReduceL2",
    .subscripts = whole_axis_subscripts,
});

}  // namespace pando::ir
