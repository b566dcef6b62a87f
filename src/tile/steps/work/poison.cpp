#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_poison = {
    .name = "poison",
    // The contents of what the exchange receives become undefined; it has destinations only.
    .text = "poison $a",
    .kind = "undefine",
    .a = Names::exchange,
    .work = Work::undefine,
    .is_observed = true,
};

}  // namespace pando::tile
