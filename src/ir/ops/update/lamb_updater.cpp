#include "ir/shared/adam.h"

namespace pando::ir {

extern const OpRow op_lamb_updater;
constexpr OpRow op_lamb_updater = adam_row(
    "lamb_updater",
    "Lamb's update before it is scaled by norms (adam_var_update): as adam_updater.",
    "lamb_updater(acc_first_order: Tensor, acc_second_order: Tensor, weight: Optional[Tensor]=None, time_step: Optional[Tensor]=None, "
        "weight_decay: Optional[Union[float, Tensor]]=None, beta1: Optional[Union[float, Tensor]]=None, beta2: Optional[Union[float, "
        "Tensor]]=None, "
        "epsilon: Union[float, Tensor]=1e-07) -> Tensor");

}  // namespace pando::ir
