// Changes of the list of a graph's ops. Private to transforms.
#pragma once

#include "ir/module.h"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pando::transform {

// Takes ops out of a graph's list; the user's order between those before and those behind them stays.
void take_out(ir::Module& module, ir::GraphId graph, const std::unordered_set<ir::OpId>& gone);

// Order edges to and from an op hold for those that take its place instead. Ops without an entry keep theirs.
void move_order(ir::Module& module, ir::GraphId graph, const std::unordered_map<ir::OpId, std::vector<ir::OpId>>& replacement);

// Operands, outputs and updated inputs of a graph that are keys become what stands there; chains are followed.
void replace_values(ir::Module& module, ir::GraphId graph, const std::unordered_map<ir::ValueId, ir::ValueId>& replacement);

}  // namespace pando::transform
