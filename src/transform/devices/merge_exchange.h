// Transfers from and to the outside that go together.
#pragma once

#include "ir/module.h"

#include <cstddef>
#include <vector>

namespace pando::transform {

struct MergedExchange {
  // Transfers that stand side by side now, one step each: host loads and stores, remote loads and stores, code loads.
  std::vector<std::vector<ir::OpId>> steps;
  // Everything else in the range, but for what makes fresh tensors (init, constants).
  std::vector<ir::OpId> others;
};

// Reorders the ops of a graph from list position `first` to before `last` so that transfers that do not need one another's data stand side
// by side, in their order. Ops that they need move in front of them, the rest behind. Data, the user's order and the order of effects hold;
// no result changes.
MergedExchange merge_exchange(ir::Module& module, ir::GraphId graph, std::size_t first, std::size_t last);

// Rejects (runtime) a range of which more is left than one step: transfers on IO tiles overlap with computing only if they are one
// exchange.
void verify_overlap(const ir::Module& module, const MergedExchange& merged);

}  // namespace pando::transform
