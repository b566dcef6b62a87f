#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <numeric>

namespace pando::ir {

extern const OpRow op_sum;
constexpr OpRow op_sum = checked({
    .name = "sum",
    .doc = "The sum along the axes; they stay with length 1 where keepdims says so. Added in wide precision, rounded once.",
    .signature = "sum(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer = infer_reduction,
    .reference = [](Evaluation& e) {
      reduce_groups(e, [](std::span<const double> v) { return std::accumulate(v.begin(), v.end(), 0.0); },
                    [](std::span<const std::int64_t> v) { return wrapped(v, 0, std::plus<std::uint64_t>()); });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, spread(g, g.grad())); },
    .cost = reduction_cost,
    .samples = number_reduction_samples,
    .popart_type = "ReduceSum",
    .subscripts = sum_subscripts,
    .adds = Adds::elements,
});

}  // namespace pando::ir
