// Vector accesses that assume no more than what tile memory promises.
#pragma once

#include <llvm/IR/Module.h>

namespace pando::popc {

// Codelets read float4 and wider types from memory that is aligned to 8 bytes, as on the machine. Lowers the alignment that
// loads, stores and parameters claim to 8; local variables keep theirs.
void relax_alignment(llvm::Module& module);

}  // namespace pando::popc
