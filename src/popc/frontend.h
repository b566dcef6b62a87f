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

// Assembly is for real tiles. A file whose preprocessed text is empty here (all of it under #ifdef __IPU__) is a unit without code, which
// says which vertices the file is for (popc/assembly/assembled.h); any other is an error, reported at its first word.
std::optional<Unit> accept_assembly(const Options& options, const std::string& input, llvm::LLVMContext& context);

}  // namespace pando::popc
