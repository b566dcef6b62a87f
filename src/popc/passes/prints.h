// printf and its kin go through the tile's runtime, which knows the vertex: the engine option pando.tagPrints puts its name in front of
// lines.
#pragma once

#include <llvm/IR/Module.h>

namespace pando::popc {

// The module has the loader's symbols. Where the address of such a function is taken, it stays the C library's.
void redirect_prints(llvm::Module& module);

}  // namespace pando::popc
