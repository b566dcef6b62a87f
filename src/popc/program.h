// All inputs of one popc run as one program: linked IR and the codelets in it.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codelet/store/gp_file.h"
#include "popc/options.h"

namespace pando::popc {

struct Program {
  std::unique_ptr<llvm::Module> module;
  std::vector<Codelet> codelets;
  std::vector<std::string> libraries;  // that its .gp inputs call
  std::vector<Dependency> dependencies;
};

// Compiles sources, reads .gp files, links. Nothing if a source had errors (printed). Throws std::runtime_error: a file that
// cannot be read, a symbol defined twice, a vertex described differently by two inputs.
std::optional<Program> build_program(const Options& options, llvm::LLVMContext& context);

}  // namespace pando::popc
