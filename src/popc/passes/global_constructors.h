// Dynamic initialisers and destructors of variables that move to tiles.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace pando::popc {

// Removes the registration of destructors, except of variables that stay: tiles never end, and their memory does not outlive
// the run.
void drop_destructors(llvm::Module& module, const llvm::DenseSet<const llvm::GlobalValue*>& moved);

// Takes out of llvm.global_ctors what touches a moved variable, in the order in which it would have run. What does not (the
// initialiser of iostreams) still runs when the module is loaded.
std::vector<llvm::Function*> take_constructors(llvm::Module& module, const llvm::DenseSet<const llvm::GlobalValue*>& moved);

}  // namespace pando::popc
