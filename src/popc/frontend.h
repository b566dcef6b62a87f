// One source file to LLVM IR with the codelets it declares.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codelet/store/gp_file.h"
#include "popc/options.h"

namespace pando::popc {

struct Unit {
  std::unique_ptr<llvm::Module> module;
  std::vector<Codelet> codelets;         // `entry` names the KernelRange function in the module
  std::vector<Dependency> dependencies;  // the files read
  std::vector<std::string> libraries;    // of a .gp: those its code calls
  std::string target;                    // that the source saw
};

// Nothing if there were errors: clang has printed them.
std::optional<Unit> compile_source(const Options& options, const std::string& input, llvm::LLVMContext& context);

// A file of assembly: its code is kept in the unit (popc/assembler/assemble.h). Where its text is empty here (all of it under
// #ifdef __IPU__), the unit says which vertices the file is for (popc/assembly/assembled.h). Nothing if there were errors, which are
// printed.
std::optional<Unit> compile_assembly(const Options& options, const std::string& input, llvm::LLVMContext& context);

}  // namespace pando::popc
