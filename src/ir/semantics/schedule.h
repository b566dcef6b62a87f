// An order of a graph's ops that keeps little alive.
#pragma once

#include "ir/module.h"

#include <vector>

namespace pando::ir {

// All ops of a graph, each behind what must come before it (ir/semantics/order_rules.h). Of the ops that may come next, the one that adds
// the fewest live bytes; of several, the first in the list.
std::vector<OpId> least_live_order(const Module& module, GraphId graph);

}  // namespace pando::ir
