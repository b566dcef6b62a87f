#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_repeat_end = {
    .name = "repeat_end",
    .text = "repeat end to $t",
    .flow = Flow::repeat_end,
};

}  // namespace pando::tile
