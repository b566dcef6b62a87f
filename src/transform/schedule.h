// The order of ops.
#pragma once

#include "ir/module.h"

namespace pando::transform {

// Puts the ops of every graph in an order that keeps little alive, within what data, the user's order and effects allow. The list as it is
// breaks ties. Always the same for the same module.
void schedule(ir::Module& module);

// The bytes that are alive at the worst op of a graph in its present order: its inputs, and results from the op that makes them to the last
// one that reads them.
std::int64_t peak_bytes(const ir::Module& module, ir::GraphId graph);

}  // namespace pando::transform
