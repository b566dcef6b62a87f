// Ops that run on several devices at once.
#pragma once

#include "ir/module.h"

namespace pando::split {

// Replaces each op of the main graph whose results lie on several devices (all_reduce) by one op for each of those, which computes there
// what the device gets of it, from all operands. So every op runs on one device, and what it needs is sent there.
void one_op_per_device(ir::Module& module);

}  // namespace pando::split
