#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_detach;
constexpr OpRow op_detach = checked({
    .name = "detach",
    .doc = "A copy that gradients do not pass.",
    .signature = "detach(t: Tensor) -> Tensor",
    .operands = {{{"t", any_type}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) { e.result(e.operand(0)); },
    .differentiable = Differentiable::blocks,
    .samples = unary_samples,
    .elementwise = true,
    .view = View::of_first_operand,
    .put = [](Expansion& x) { x.result(x.operand(1)); },
    .has_in_place = true,
    .popart_type = "Detach",
    .popart_in_place_type = "DetachInplace",
    .subscripts = adding_subscripts,
    .view_form = ViewForm::whole,
});

}  // namespace pando::ir
