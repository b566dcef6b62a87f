#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_end = {
    .name = "end",
    .text = "end",
    .flow = Flow::end,
};

}  // namespace pando::tile
