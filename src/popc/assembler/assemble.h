// Files of assembly in a program: kept as text in the module, bound to their vertices when the program is complete.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "codelet/store/codelet.h"
#include "popc/options.h"

namespace pando::popc {

// Assembles the preprocessed text of a file and keeps it in the module. Returns the faults, each "FILE:LINE: what".
std::vector<std::string> add_assembly(llvm::Module& module, const std::string& text, const std::string& file);

// The global symbols of the files, sorted.
std::vector<std::string> assembled_symbols(const llvm::Module& module);

// The name of a vertex's code in assembly: popops::Fill<unsigned int,4> is __runCodelet_popops__Fill___unsigned_int_4.
std::string assembly_name(std::string_view vertex);

// A line for each instruction: name, forms, pipe, slots, meaning, apart by tabs.
std::string instructions_text();

struct BoundAssembly {
  std::vector<std::string> undefined;  // symbols that vertices' code needs and no file defines, sorted
};

// Gives the vertices without an entry the code of their symbols (KernelRange and KernelCounted). The module has the loader's symbols.
BoundAssembly bind_assembly(llvm::Module& module, std::vector<Codelet>& codelets, const std::string& general);

}  // namespace pando::popc
