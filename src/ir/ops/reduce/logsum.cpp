#include "ir/meaning/formula.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <cmath>
#include <numeric>

namespace pando::ir {

extern const OpRow op_logsum;
constexpr OpRow op_logsum = checked({
    .name = "logsum",
    .doc = "The natural logarithm of the sum along the axes; they stay with length 1 where keepdims says so.",
    .signature = "logsum(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer = infer_reduction,
    .reference = [](Evaluation& e) {
      reduce_groups(e, [](std::span<const double> v) {
        return std::log(std::accumulate(v.begin(), v.end(), 0.0));
      });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const ValueId sum = g.op("sum", {g.operand(0)}, g.attributes());
      g.give(0, spread(g, formula(g, g.grad()) / formula(g, sum)));
    },
    .cost = reduction_cost,
    .samples = reduction_samples,
    .popart_type = "ReduceLogSum",
    .subscripts = whole_axis_subscripts,
});

}  // namespace pando::ir
