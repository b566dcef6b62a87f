#include "ir/meaning/formula.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pando::ir {

extern const OpRow op_logsumexp;
constexpr OpRow op_logsumexp = checked({
    .name = "logsumexp",
    .doc = "The natural logarithm of the sum of the exponentials along the axes; they stay with length 1 where keepdims says so. "
           "Large elements do not overflow.",
    .signature = "logsumexp(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer = infer_reduction,
    .reference = [](Evaluation& e) {
      reduce_groups(e, [](std::span<const double> v) {
        if (v.empty()) return std::log(0.0);
        const double top = *std::max_element(v.begin(), v.end());
        if (std::any_of(v.begin(), v.end(), [](double x) { return std::isnan(x); })) return std::nan("");
        if (std::isinf(top)) return top;
        return top + std::log(std::accumulate(v.begin(), v.end(), 0.0, [top](double sum, double x) { return sum + std::exp(x - top); }));
      });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto share = (formula(g, g.operand(0)) - formula(g, spread(g, g.result()))).op("exp");
      g.give(0, formula(g, spread(g, g.grad())) * share);
    },
    .cost = reduction_cost,
    .samples = reduction_samples,
    .popart_type = "ReduceLogSumExp",
    .subscripts = whole_axis_subscripts,
});

}  // namespace pando::ir
