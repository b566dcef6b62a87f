#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_call = {
    .name = "call",
    // b: the code of function a must have been loaded.
    .text = "call to $t",
    .text_if_b = "call loaded $a to $t",
    .a = Names::loaded_function,
    .b = Names::flag,
    .flow = Flow::call,
};

}  // namespace pando::tile
