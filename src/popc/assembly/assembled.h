// Vertices that a file of assembly implements, for IPUs.
//
// Such a vertex is declared in C++ with a compute() for hosts, or with one that does nothing (`return true;`), which the assembly takes the
// place of. Hosts would run the latter, and its outputs would hold anything. So popc rejects it; and where the assembly came in a .gp, it
// puts a stop there that names the file.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "codelet/store/codelet.h"

namespace pando::popc {

// Remembers in the module which vertices' code is among the names of an assembly file.
void note_assembled(llvm::Module& module, const std::vector<std::string>& names, const std::string& file);

// Looks at the vertices that were noted: those that have outputs and whose compute() does nothing. Throws std::runtime_error if the file is
// one of `inputs`. Otherwise the vertex will stop the program; says so on stderr. The module has the loader's symbols.
void reject_assembled(llvm::Module& module, const std::vector<Codelet>& codelets, const std::vector<std::string>& inputs);

}  // namespace pando::popc
