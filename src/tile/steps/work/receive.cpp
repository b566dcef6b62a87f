#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_receive = {
    .name = "receive",
    .text = "receive $a to $b",
    .kind = "receive",
    .a = Names::channel,
    .b = Names::receive_place,
    .work = Work::receive,
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
