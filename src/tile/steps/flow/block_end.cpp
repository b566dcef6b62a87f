#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_block_end = {
    .name = "block_end",
    // A mark for who observes steps; b is 1 around a stream copy.
    .text = "block end",
    .text_if_b = "stream copy end",
    .kind = "block",
    .b = Names::flag,
    .is_observed = true,
};

}  // namespace pando::tile
