#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_block_begin = {
    .name = "block_begin",
    // A mark for who observes steps; b is 1 around a stream copy.
    .text = "block begin",
    .text_if_b = "stream copy begin",
    .kind = "block",
    .b = Names::flag,
    .is_observed = true,
};

}  // namespace pando::tile
