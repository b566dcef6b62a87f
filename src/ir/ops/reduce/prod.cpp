#include "ir/meaning/formula.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <functional>
#include <numeric>

namespace pando::ir {

extern const OpRow op_prod;
constexpr OpRow op_prod = checked({
    .name = "prod",
    .doc = "The product along the axes; they stay with length 1 where keepdims says so.",
    .signature = "prod(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer = infer_reduction,
    .reference = [](Evaluation& e) {
      reduce_groups(e, [](std::span<const double> v) { return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>()); },
                    [](std::span<const std::int64_t> v) { return wrapped(v, 1, std::multiplies<std::uint64_t>()); });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      // The product of the others: without a zero the quotient; beside one zero 0, at it the product of the rest; beside two zeros 0.
      const DType dtype = g.operand_type(0).dtype;
      const auto x = formula(g, g.operand(0)), zero = x.number(0), one = x.number(1);
      const ValueId is_zero = g.op("equal", {x, zero});
      const auto rest = select(g, is_zero, one, x);
      const auto product = formula(g, spread(g, rest.op("prod", g.attributes())));
      const auto zeros = formula(g, spread(g, g.op("sum", {g.op("cast", {is_zero}, {{"data_type", dtype}})}, g.attributes())));
      const ValueId none = g.op("equal", {zeros, zero}), single = g.op("equal", {zeros, one});
      const auto others = select(g, is_zero, select(g, single, product, zero), select(g, none, product / rest, zero));
      g.give(0, formula(g, spread(g, g.grad())) * others);
    },
    .cost = reduction_cost,
    .samples = number_reduction_samples,
    .popart_type = "ReduceProd",
    .subscripts = whole_axis_subscripts,
});

}  // namespace pando::ir
