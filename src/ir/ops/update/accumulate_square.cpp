#include "ir/shared/update.h"

namespace pando::ir {

extern const OpRow op_accumulate_square;
constexpr OpRow op_accumulate_square = checked({
    .name = "accumulate_square_",
    .doc = "t + f X^2, into t. X has the shape of t; its element type may differ.",
    .signature = "accumulate_square_(t: Tensor, X: Tensor, f: Union[float, Tensor]=1.0) -> Tensor",
    .module = "var_updates.accumulate",
    .operands = {{{"t", any_numeric}, {"X", any_numeric}, {.name = "f", .types = any_numeric, .optional = true}}},
    .attributes = {{{"f", AttributeKind::number, false}, {"scalars", AttributeKind::texts, false}}},
    .infer = [](Inference& in) { infer_update(in, "f", false); },
    .reference = [](Evaluation& e) {
      const double f = scalar_value(e, "f", 2).value_or(1);
      update_elements(e, [f](double t, double x) { return t + f * x * x; });
    },
    .samples = [] { return update_samples("f"); },
    .modifies = {{{0, 0}}},
    .popart_type = "Accumulate",
    .subscripts = update_subscripts,
});

}  // namespace pando::ir
