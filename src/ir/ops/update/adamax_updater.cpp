#include "ir/shared/adam.h"

namespace pando::ir {

extern const OpRow op_adamax_updater;
constexpr OpRow op_adamax_updater = checked({
    .name = "adamax_updater",
    .doc = "AdaMax's update: m / (1 - beta1^step) / (v + epsilon) + weight_decay weight. The time step is made one more first; its new "
           "contents are the second "
           "result.",
    .signature = "adamax_updater(acc_first_order: Tensor, acc_second_order: Tensor, weight: Optional[Tensor]=None, time_step: Tensor=None, "
                 "weight_decay: "
                 "Optional[Union[float, Tensor]]=None, beta1: Union[float, Tensor]=0.9, epsilon: Union[float, Tensor]=1e-07) -> Tensor",
    .module = "var_updates.adam_updater",
    .operands = {{{"acc_first_order", any_numeric},
                  {"acc_second_order", any_numeric},
                  {.name = "weight", .types = any_numeric, .optional = true},
                  {.name = "time_step", .types = any_numeric, .optional = true},
                  {.name = "weight_decay", .types = any_numeric, .optional = true},
                  {.name = "beta1", .types = any_numeric, .optional = true},
                  {.name = "epsilon", .types = any_numeric, .optional = true}}},
    .attributes = {{{"present", AttributeKind::texts, false},
                    {"scalars", AttributeKind::texts, false},
                    {"weight_decay", AttributeKind::number, false},
                    {"beta1", AttributeKind::number, false},
                    {"epsilon", AttributeKind::number, false}}},
    .infer = [](Inference& in) { infer_adam(in, {"weight_decay", "beta1", "epsilon"}, true); },
    .reference = [](Evaluation& e) { run_adam(e, true); },
    .samples = [] { return adam_samples(true); },
    .modifies_more = adam_modifies,
    .popart_type = "AdamUpdater",
    .subscripts = update_subscripts,
    .phase = OpPhase::update,
});

}  // namespace pando::ir
