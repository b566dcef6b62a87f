#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_error = {
    .name = "error",
    // Stops the program with the title of its PrintInfo and the tensor.
    .text = "error $a",
    .kind = "error",
    .a = Names::error,
    .work = Work::error,
    .host = HostStep::always,
    .is_memory_step = true,
};

}  // namespace pando::tile
