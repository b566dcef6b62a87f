#include "ir/shared/adam.h"

namespace pando::ir {

extern const OpRow op_lamb_updater;
constexpr OpRow op_lamb_updater = checked({
    .name = "lamb_updater",
    .doc = "Lamb's update before it is scaled by norms (adam_var_update): as adam_updater.",
    .signature =
        "lamb_updater(acc_first_order: Tensor, acc_second_order: Tensor, weight: Optional[Tensor]=None, time_step: Optional[Tensor]=None, "
        "weight_decay: Optional[Union[float, Tensor]]=None, beta1: Optional[Union[float, Tensor]]=None, beta2: Optional[Union[float, "
        "Tensor]]=None, "
        "epsilon: Union[float, Tensor]=1e-07) -> Tensor",
    .module = "var_updates.adam_updater",
    .operands = {{{"acc_first_order", any_numeric},
                  {"acc_second_order", any_numeric},
                  {.name = "weight", .types = any_numeric, .optional = true},
                  {.name = "time_step", .types = any_numeric, .optional = true},
                  {.name = "weight_decay", .types = any_numeric, .optional = true},
                  {.name = "beta1", .types = any_numeric, .optional = true},
                  {.name = "beta2", .types = any_numeric, .optional = true},
                  {.name = "epsilon", .types = any_numeric, .optional = true}}},
    .attributes = {{{"present", AttributeKind::texts, false},
                    {"scalars", AttributeKind::texts, false},
                    {"weight_decay", AttributeKind::number, false},
                    {"beta1", AttributeKind::number, false},
                    {"beta2", AttributeKind::number, false},
                    {"epsilon", AttributeKind::number, false}}},
    .infer = [](Inference& in) { infer_adam(in, {"weight_decay", "beta1", "beta2", "epsilon"}, false); },
    .reference = [](Evaluation& e) { run_adam(e, false); },
    .samples = [] { return adam_samples(false); },
    .modifies_more = adam_modifies,
    .popart_type = "AdamUpdater",
    .subscripts = update_subscripts,
    .phase = OpPhase::update,
});

}  // namespace pando::ir
