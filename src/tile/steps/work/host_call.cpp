#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_host_call = {
    .name = "host_call",
    .text = "host call $a $b",
    .kind = "host call",
    .a = Names::host_inputs,
    .b = Names::host_outputs,
    .work = Work::host_call,
    .host = HostStep::always,
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
