#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_print = {
    .name = "print",
    .text = "print $a",
    .kind = "print",
    .a = Names::print,
    .work = Work::print,
    .host = HostStep::always,
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
