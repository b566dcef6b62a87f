// Where values lie of which nobody has said it.
#pragma once

#include "ir/module.h"

namespace pando::transform {

// Gives every value a device and a tile set. Variables, constants and inputs of graphs lie where their first user's other operands or
// results lie (what a called graph wants of its input counts); results lie where their operands do; what no use decides lies on the
// compute tiles of device 0. What is known already stays.
void complete_places(ir::Module& module);

}  // namespace pando::transform
