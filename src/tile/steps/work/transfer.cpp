#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_transfer = {
    .name = "transfer",
    .text = "transfer $a",
    .kind = "host",
    .a = Names::fifo_or_remote,
    .work = Work::transfer,
    .host = HostStep::if_ordered,
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
