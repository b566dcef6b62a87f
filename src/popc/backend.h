// From IR to a shared object.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace pando::popc {

// Runs LLVM's pipeline of that level ('0' '1' '2' '3' 's' 'z').
void optimise(llvm::Module& module, char level);
// Machine code as an ELF object; as text with `assembly`.
std::string emit(llvm::Module& module, char level, bool assembly);
// Links an ELF object into a shared one. Throws std::runtime_error with the linker's message.
std::string link_shared(const std::string& object, const std::vector<std::string>& libraries);

}  // namespace pando::popc
