#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_ret = {
    .name = "ret",
    .text = "return",
    .flow = Flow::give_back,
};

}  // namespace pando::tile
