// Whether the devices of a strategy that have equal parts of the same work do it in the same time, so that one of them says what all take.
#pragma once

#include "simulate/cluster.h"
#include "transform/distribute/layout/strategy.h"

namespace pando::search {

// Every group of devices along an axis lies in the network as the first one does, and nothing is shared that they would queue for. Rejects
// (value) names in Strategy::order that are no axes.
bool ranks_do_alike(const transform::Strategy& strategy, const simulate::Cluster& cluster);

}  // namespace pando::search
