// Loops that turn out short.
//
// Thousands of vertices each have a few elements. The optimiser's vector loops are made for long ones: what does not fill four
// vectors goes through one half as wide, and what is left through one instruction per element. Where the target can mask the lanes
// of a vector, each innermost loop gets a second copy whose vectors are all masked, for few iterations; a comparison before the two
// chooses. Results are the same bits.
#pragma once

#include <llvm/IR/PassManager.h>

namespace pando::popc {

// Runs where the optimiser's vectorisation starts.
class ShortLoops : public llvm::PassInfoMixin<ShortLoops> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace pando::popc
