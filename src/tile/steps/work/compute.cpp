#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_compute = {
    .name = "compute",
    .text = "compute $a",
    .kind = "compute",
    .a = Names::compute,
    .work = Work::compute,
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
