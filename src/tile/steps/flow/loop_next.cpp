#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_loop_next = {
    .name = "loop_next",
    .text = "loop next to $t",
    .flow = Flow::loop_next,
};

}  // namespace pando::tile
