#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_cross_replica = {
    .name = "cross_replica",
    .text = "cross replica $a map $b",
    .kind = "replicas",
    .a = Names::exchange,
    .b = Names::replica_map,
    .work = Work::cross_replica,
    .is_observed = true,
    .is_memory_step = true,
};

}  // namespace pando::tile
