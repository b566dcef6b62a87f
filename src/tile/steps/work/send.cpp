#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_send = {
    .name = "send",
    .text = "send $a from $b",
    .kind = "send",
    .a = Names::channel,
    .b = Names::send_place,
    .work = Work::send,
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
