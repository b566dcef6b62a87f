#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_identity;
constexpr OpRow op_identity = checked({
    .name = "identity",
    .doc = "A copy.",
    .signature = "identity(t: Tensor, output_name: Optional[str] = None) -> Tensor",
    .operands = {{{"t", any_type}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) { e.result(e.operand(0)); },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.grad()); },
    .samples = unary_samples,
    .elementwise = true,
    .popart_type = "Identity",
    .subscripts = adding_subscripts,
});

}  // namespace pando::ir
