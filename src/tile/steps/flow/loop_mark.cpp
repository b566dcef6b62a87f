#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_loop_mark = {
    .name = "loop_mark",
    .text = "loop",
    .flow = Flow::loop_begin,
};

}  // namespace pando::tile
