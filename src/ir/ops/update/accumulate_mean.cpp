#include "ir/shared/update.h"

namespace pando::ir {

extern const OpRow op_accumulate_mean;
constexpr OpRow op_accumulate_mean = checked({
    .name = "accumulate_mean_",
    .doc = "The running mean of `step` + 1 tensors: step / (step + 1) t + X / (step + 1), into t. X has the shape of t; its element type "
           "may differ.",
    .signature = "accumulate_mean_(t: Tensor, X: Tensor, step: Union[float, Tensor]) -> Tensor",
    .module = "var_updates.accumulate",
    .operands = {{{"t", any_numeric}, {"X", any_numeric}, {.name = "step", .types = any_numeric, .optional = true}}},
    .attributes = {{{"step", AttributeKind::number, false}, {"scalars", AttributeKind::texts, false}}},
    .infer = [](Inference& in) { infer_update(in, "step", true); },
    .reference =
        [](Evaluation& e) {
          const double f = scalar_value(e, "step", 2).value_or(1);
          update_elements(e, [f](double t, double x) { return f / (f + 1) * t + x / (f + 1); });
        },
    .samples = [] { return update_samples("step"); },
    .modifies = {{{0, 0}}},
    .popart_type = "Accumulate",
    .subscripts = update_subscripts,
});

}  // namespace pando::ir
