// Functions that also count how often each of their blocks runs: copies of those that count slots.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/ValueHandle.h>

#include <map>
#include <vector>

#include "popc/counting/instrument.h"
#include "popc/counting/selection.h"

namespace pando::popc {

class BlockCounts {
 public:
  // Of a function that is selected and not instrumented yet; once.
  void copy(llvm::Function& f, const SelectedFunction& selected);
  // Then: the copies count, and call each other.
  void instrument_all(llvm::Module& module);

  llvm::Function* copy_of(const llvm::Function& f) const { return copies_.at(&f).function; }
  // The counters of a codelet's functions, in their order: of each the segments that have slots.
  CountedBlocks blocks_of(const std::vector<const llvm::Function*>& functions) const;

 private:
  struct Copy {
    llvm::Function* function = nullptr;
    SelectedFunction selected;  // its blocks; without instructions
    unsigned first = 0, count = 0;
  };
  std::map<const llvm::Function*, Copy> copies_;  // looked up, never iterated
  std::vector<const llvm::Function*> order_;
  unsigned counters_ = 0;
  llvm::GlobalVariable* variable_ = nullptr;
};

}  // namespace pando::popc
