// Where the devices of each kind of parallelism lie in the network.
#pragma once

#include "search/strategy.h"

namespace pando::search {

struct Groups {
  simulate::Group tensor, context, data, expert;
  // Two neighbours, and all ranks.
  simulate::Group pipeline, ranks;
};

// By the strategy's levels; without them tensor innermost, then context, data, pipeline.
Groups levels_of(const simulate::Cluster& cluster, const Strategy& s);

}  // namespace pando::search
