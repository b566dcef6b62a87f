#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_error_if = {
    .name = "error_if",
    // Stops if the location holds true.
    .text = "error if $b $a",
    .kind = "error",
    .a = Names::error,
    .b = Names::location,
    .work = Work::error_if,
    .host = HostStep::always,
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
