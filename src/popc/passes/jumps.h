// setjmp and longjmp of codelets.
//
// Their declarations may be the host's <setjmp.h> or the codelet's own: only the address of the jmp_buf counts. Calls go to the
// runtime table, and compute() of each codelet that reaches one runs on the tile's own stack for that (exec/fibers/jump_stack.h).
#pragma once

#include <llvm/IR/Module.h>

#include <vector>

#include "codelet/store/codelet.h"

namespace pando::popc {

// The module has the loader's symbols and is not optimised yet.
void redirect_jumps(llvm::Module& module, const std::vector<Codelet>& codelets);

}  // namespace pando::popc
