#include "ir/shared/extremes.h"

namespace pando::ir {

extern const OpRow op_min;
constexpr OpRow op_min = checked({
    .name = "min",
    .doc = "The least element along the axes; they stay with length 1 where keepdims says so. NaN if one of them is. Its gradient goes to "
           "every element "
           "that equals it.",
    .signature = "min(t: Tensor, axis: Optional[Union[int, Iterable[int]]] = None, keepdims: bool = False) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"axis", AttributeKind::ints}, {"keepdims", AttributeKind::flag, false}}},
    .infer = infer_choice,
    .reference = extreme_of_groups<false>,
    .differentiable = Differentiable::by_gradient,
    .gradient = give_where_equal,
    .cost = reduction_cost,
    .samples = distinct_reduction_samples,
    .popart_type = "ReduceMin",
    .subscripts = whole_axis_subscripts,
});

}  // namespace pando::ir
