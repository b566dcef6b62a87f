// Blocks of memory that a codelet fills, copies or moves: loops.
#pragma once

#include <llvm/IR/Function.h>

namespace pando::popc {

// memset, memcpy and memmove become the loops that a tile's library runs for them: as wide as the alignment allows, single bytes for what
// is left. Volatile ones stay. Whether there were any.
bool expand_memory_blocks(llvm::Function& function);

}  // namespace pando::popc
