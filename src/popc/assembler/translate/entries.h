// What calls the function of a vertex in assembly: KernelRange and KernelCounted of its codelet.
#pragma once

#include <llvm/IR/Module.h>

#include "codelet/store/codelet.h"

namespace pando::popc {

void add_assembly_entries(llvm::Function& run, const Codelet& codelet);

// An entry of a vertex whose code another file has: never called, as the module lacks a symbol.
void add_missing_entry(llvm::Module& module, const Codelet& codelet);

// The layout of a codelet's state, as begin_worker and end_worker take it; made once.
llvm::GlobalVariable& state_fields(llvm::Module& module, const Codelet& codelet);

}  // namespace pando::popc
