#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_sync = {
    .name = "sync",
    // Nothing but the sync.
    .text = "sync",
    .kind = "sync",
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
