#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_meet = {
    .name = "meet",
    // Nothing but the meet.
    .text = "meet",
    .kind = "meet",
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
