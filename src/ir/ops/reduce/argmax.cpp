#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_argmax;
constexpr OpRow op_argmax = checked({
    .name = "argmax",
    .doc = "Where along dim the largest element lies (the first of equal ones; numbers come before NaN), as int32. dim stays with length 1 "
           "where keepdim says so.",
    .signature = "argmax(t: Tensor, dim: int = 0, keepdim: bool = False) -> Tensor",
    .module = "argminmax",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"dim", AttributeKind::integer}, {"keepdim", AttributeKind::flag, false}}},
    .infer = infer_position,
    .reference = [](Evaluation& e) { find_position(e, true); },
    .cost = reduction_cost,
    .samples = along_dim_samples,
    .popart_type = "ArgMax",
    .subscripts = whole_axis_subscripts,
});

}  // namespace pando::ir
