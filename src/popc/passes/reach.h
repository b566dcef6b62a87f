// Which globals code refers to, directly or through what it refers to.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>

#include <vector>

namespace pando::popc {

// Every global value that `root` refers to: through instructions, constants, called functions' bodies and initialisers of
// variables. Includes the root. In order of discovery. A function whose address is taken counts as called.
std::vector<const llvm::GlobalValue*> reachable(const llvm::GlobalValue& root);

// Every global value that a function's own body refers to, through constants but not through other bodies; variables' initialisers
// are followed (tables of functions).
std::vector<const llvm::GlobalValue*> referenced(const llvm::Function& function);

// Does `constant` mention one of `globals` in its operands (not through initialisers)?
bool mentions(const llvm::Constant& constant, const llvm::DenseSet<const llvm::GlobalValue*>& globals);

}  // namespace pando::popc
