// For checked code (checked.h): loops whose accesses are compared with their ranges before the first iteration.
//
//     for (i = 0; i < n; ++i) out[i] = in[i];      becomes      if (in[0 .. n - 1] and out[0 .. n - 1] are inside)
//                                                                 the loop as it is
//                                                               else
//                                                                 a copy, each of whose accesses is checked
//
// So the copy finds the same first access that is outside, with all that was written before it, and the loop needs no checks.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>

#include "popc/passes/checked_ranges.h"

namespace pando::popc {

using CheckedAccesses = llvm::SmallPtrSet<llvm::Instruction*, 32>;

// Loads and stores that need no check of their own. Before others list the function's instructions: loops are copied.
CheckedAccesses check_loops_before(llvm::Function& function, Ranges& ranges);

}  // namespace pando::popc
