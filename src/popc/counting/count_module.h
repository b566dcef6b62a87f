// Codelets counted: code that says how many issue slots compute() takes on a worker (docs/cycles.md).
//
//   program (IR) -> a copy, -O2 without vectors and unrolled loops -> slots of each block (selection.h) -> counters in the copy
//     -> for each codelet ENTRY.count (control alone: no stores, and what only they need is gone) or ENTRY.counted (compute() itself)
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

#include "codelet/store/codelet.h"
#include "popc/options.h"

namespace pando::popc {

struct Counting {
  std::unique_ptr<llvm::Module> code;  // beside the program's: links with it. Null if no codelet is counted
  std::string text;                    // the selected instructions of all functions, with `prints`
};

// Sets `counting` and `uncounted` of the codelets.
Counting count_codelets(const llvm::Module& program, std::vector<Codelet>& codelets, const Options& options, bool prints);

}  // namespace pando::popc
