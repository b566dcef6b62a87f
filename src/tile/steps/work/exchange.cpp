#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_exchange = {
    .name = "exchange",
    .text = "exchange $a",
    .kind = "exchange",
    .a = Names::exchange,
    .work = Work::exchange,
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
