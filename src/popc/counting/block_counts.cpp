#include "popc/counting/block_counts.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace pando::popc {

using namespace llvm;

void BlockCounts::copy(Function& f, const SelectedFunction& selected) {
  const auto [at, added] = copies_.try_emplace(&f);
  if (!added) return;
  order_.push_back(&f);
  Copy& copy = at->second;
  ValueToValueMapTy map;
  copy.function = CloneFunction(&f, map);
  copy.function->setLinkage(GlobalValue::InternalLinkage);
  copy.first = counters_;
  for (const SelectedBlock& b : selected.blocks) {
    copy.selected.blocks.push_back({cast<BasicBlock>(map[b.block]), {}, b.repeats});
    for (const Segment& s : b.segments) {
      Instruction* const begin = s.begin ? cast<Instruction>(map[s.begin]) : nullptr;
      copy.selected.blocks.back().segments.push_back({begin, {}, {}, s.bundles});
      copy.count += slots_of(s.bundles) > 0 ? 1 : 0;
    }
  }
  counters_ += copy.count;
}

void BlockCounts::instrument_all(Module& module) {
  if (order_.empty()) return;
  variable_ = &add_block_counters(module, counters_);
  for (const Function* f : order_) {
    const Copy& copy = copies_.at(f);
    for (Instruction& i : instructions(*copy.function)) {
      auto* call = dyn_cast<CallBase>(&i);
      const auto at = call && call->getCalledFunction() ? copies_.find(call->getCalledFunction()) : copies_.end();
      if (at != copies_.end()) call->setCalledFunction(at->second.function);
    }
    const BlockCounters counters{variable_, copy.first, copy.count};
    instrument(*copy.function, copy.selected, &counters);
  }
}

CountedBlocks BlockCounts::blocks_of(const std::vector<const Function*>& functions) const {
  CountedBlocks out{variable_, {}};
  for (const Function* f : functions) {
    const Copy& copy = copies_.at(f);
    for (unsigned i = 0; i < copy.count; ++i) out.numbers.push_back(copy.first + i);
  }
  return out;
}

}  // namespace pando::popc
