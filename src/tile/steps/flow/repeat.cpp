#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_repeat = {
    .name = "repeat",
    .text = "repeat $n else to $t",
    .flow = Flow::repeat,
};

}  // namespace pando::tile
