#include "ir/shared/adam.h"

namespace pando::ir {

extern const OpRow op_adam_updater;
constexpr OpRow op_adam_updater = adam_row(
    "adam_updater",
    "Adam's update: m / (sqrt(v) + epsilon) + weight_decay weight. With a time step, which is made one more first, the accumulators "
           "are corrected for their "
           "bias: m / (1 - beta1^step), v / (1 - beta2^step). The second result is the time step's new contents.",
    "adam_updater(acc_first_order: Tensor, acc_second_order: Tensor, weight: Optional[Tensor]=None, time_step: Optional[Tensor]=None, "
        "weight_decay: Optional[Union[float, Tensor]]=None, beta1: Optional[Union[float, Tensor]]=None, beta2: Optional[Union[float, "
        "Tensor]]=None, "
        "epsilon: Union[float, Tensor]=1e-07) -> Tensor");

}  // namespace pando::ir
