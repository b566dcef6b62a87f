#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_loop_exit = {
    .name = "loop_exit",
    .text = "loop exit",
    .flow = Flow::loop_end,
};

}  // namespace pando::tile
