#include "ir/meaning/formula.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <numeric>

namespace pando::ir {

extern const OpRow op_sumsquare;
constexpr OpRow op_sumsquare = checked({
    .name = "sumsquare",
    .doc = "The sum of the squares along the axes; they stay with length 1 where keepdims says so.",
    .signature = "sumsquare(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer = infer_reduction,
    .reference =
        [](Evaluation& e) {
          reduce_groups(
              e, [](std::span<const double> v) { return std::inner_product(v.begin(), v.end(), v.begin(), 0.0); },
              [](std::span<const std::int64_t> v) {
                return wrapped(v, 0, [](std::uint64_t sum, std::uint64_t x) { return sum + x * x; });
              });
        },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, formula(g, spread(g, g.grad())) * formula(g, g.operand(0)) * 2.0); },
    .cost = reduction_cost,
    .samples = number_reduction_samples,
    .popart_type = "ReduceSumSquare",
    .subscripts = total_subscripts,
});

}  // namespace pando::ir
