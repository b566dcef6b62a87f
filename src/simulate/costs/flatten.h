// A placed module as steps.
#pragma once

#include "ir/module.h"
#include "simulate/costs/cost_model.h"
#include "simulate/program.h"

namespace pando::simulate {

// Graphs of a pmap have their devices bound by it. Tensors without a place lie on device 0. Rejects (ModelError) conditionals: which branch
// runs is not known; and device variables that no pmap binds.
Program flatten(const ir::Module& module, const CostModel& costs);

}  // namespace pando::simulate
