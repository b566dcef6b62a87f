#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_jump = {
    .name = "jump",
    .text = "jump to $t",
    .flow = Flow::jump,
};

}  // namespace pando::tile
