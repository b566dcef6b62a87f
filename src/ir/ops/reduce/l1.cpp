#include "ir/meaning/formula.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <cmath>
#include <numeric>

namespace pando::ir {

extern const OpRow op_l1;
constexpr OpRow op_l1 = checked({
    .name = "l1",
    .doc = "The sum of the absolute values along the axes; they stay with length 1 where keepdims says so.",
    .signature = "l1(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer = infer_reduction,
    .reference = [](Evaluation& e) {
      reduce_groups(e, [](std::span<const double> v) {
        return std::accumulate(v.begin(), v.end(), 0.0, [](double sum, double x) { return sum + std::fabs(x); });
      });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, spread(g, g.grad())) * formula(g, g.operand(0)).op("sign")); },
    .cost = reduction_cost,
    .samples = reduction_samples,
    .popart_type = "ReduceL1",
    .subscripts = total_subscripts,
});

}  // namespace pando::ir
