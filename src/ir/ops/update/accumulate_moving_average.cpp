#include "ir/shared/update.h"

namespace pando::ir {

extern const OpRow op_accumulate_moving_average;
constexpr OpRow op_accumulate_moving_average = checked({
    .name = "accumulate_moving_average_",
    .doc = "f t + (1 - f) X, into t. X has the shape of t; its element type may differ.",
    .signature = "accumulate_moving_average_(t: Tensor, X: Tensor, f: Union[float, Tensor]) -> Tensor",
    .module = "var_updates.accumulate",
    .operands = {{{"t", any_numeric}, {"X", any_numeric}, {.name = "f", .types = any_numeric, .optional = true}}},
    .attributes = {{{"f", AttributeKind::number, false}, {"scalars", AttributeKind::texts, false}}},
    .infer = [](Inference& in) { infer_update(in, "f", true); },
    .reference = [](Evaluation& e) {
      const double f = scalar_value(e, "f", 2).value_or(1);
      update_elements(e, [f](double t, double x) { return f * t + (1 - f) * x; });
    },
    .samples = [] { return update_samples("f"); },
    .modifies = {{{0, 0}}},
    .popart_type = "Accumulate",
    .subscripts = update_subscripts,
});

}  // namespace pando::ir
