// Inline assembly of an IPU in codelets that run on the host.
//
//   mov %[x], $m11              the stack register         -> the address of the function's frame
//   get %[x], 0x60 (or 0x61)    the cycle counter's halves -> cycle_count() of the runtime table
//
// Other assembly of workers runs as IR (popc/assembler/inline). What cannot be assembled is an error in code that vertices reach. Elsewhere
// it becomes a trap that names the function, where and when it runs.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace pando::popc {

struct ForeignStatement {
  std::string text;       // its first line
  std::string why;        // it cannot be assembled
  unsigned location = 0;  // as clang writes it into code: SourceLocation's raw encoding
};

// Inline assembly of an IPU's worker, but what is replaced here.
bool is_workers_assembly(const llvm::CallInst& call);

// Assembly in what the functions reach that nothing is put in the place of.
std::vector<ForeignStatement> foreign_assembly(const std::vector<const llvm::Function*>& roots);

// Replaces the assembly; the module has the loader's symbols. Returns the functions that would trap, as they are written in C++.
std::vector<std::string> replace_foreign_assembly(llvm::Module& module);

}  // namespace pando::popc
