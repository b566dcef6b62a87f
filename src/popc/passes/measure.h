// What a codelet costs in code and stack, and whether it depends on its tile.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "codelet/store/codelet.h"

namespace pando::popc {

// Sets uses_tile of the codelets that reach the runtime table. Before optimising: nothing is inlined away yet.
void mark_tile_users(const llvm::Module& module, std::vector<Codelet>& codelets);

// Code and stack of each codelet: its entry and the functions that it reaches.
class CodeSizes {
 public:
  // The call graph, which must be taken before code is emitted.
  CodeSizes(const llvm::Module& optimised, const std::vector<Codelet>& codelets);
  // Fills code_bytes: the sum of the functions' sizes; stack_bytes: the sum of their frames along the deepest chain of calls,
  // a recursive function counted once.
  void measure(const std::string& object, std::vector<Codelet>& codelets) const;

 private:
  struct Node {
    std::string name;
    std::vector<unsigned> callees;
  };
  std::vector<Node> nodes_;
  std::vector<unsigned> roots_;  // per codelet
};

}  // namespace pando::popc
