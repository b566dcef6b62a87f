// The order of ops.
#pragma once

#include "ir/module.h"

namespace pando::transform {

// Puts the ops of every graph in an order that keeps little alive, within what must come before what (ir/semantics/order_rules.h).
// Element-wise ops that only one other reads stay before it. The list as it is breaks ties, and stays where no order was found that is
// better by more than a 32nd, and where values lie on several devices or on IO tiles: there the order says what runs beside what. Always
// the same for the same module.
void schedule(ir::Module& module);

// The bytes that are alive at the worst op of a graph in its present order: its inputs, and results from the op that makes them to the last
// one that reads them or a view of them. A new version lies where the old one does, what is computed in one pass with its reader nowhere;
// an element-wise result may lie where an operand did. With what the graphs of an op take.
std::int64_t peak_bytes(const ir::Module& module, ir::GraphId graph);

}  // namespace pando::transform
