// What a tile's compiler makes of loops: how they end, which addresses step by themselves, which values it therefore never computes.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>

#include <string>

namespace pando::popc {

// How a loop ends.
enum class Closing {
  compares,    // a comparison and a branch, as written
  counts,      // brnzdec: an innermost loop whose rounds are known before it begins
  repeats,     // rpt: the same, of one block, whose rounds fit the counter
  counts_down  // add and brnz: rounds are known, but there are loops inside
};

struct LoopShape {
  Closing closing = Closing::compares;
  unsigned updates = 0;                   // adds in each round: one for each stride that no load or store steps by itself
  llvm::SmallVector<const char*> before;  // instructions in front of it: of the count, of addresses
};

// A load or store whose address steps with its loop.
struct Stepping {
  unsigned base = 0;       // a register: the same number for all accesses that are a constant apart
  unsigned index = 0;      // of the register that steps for several bases; 0: the base steps by itself
  bool is_behind = false;  // lower than the first of these accesses, which decides where the register points: constants are unsigned
};

class LoopShapes {
 public:
  LoopShapes(llvm::Function& function, llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution, unsigned most_repeats);

  const LoopShape& of(const llvm::Loop& loop) const { return shapes_.find(&loop)->second; }
  // Its value is never computed: an address steps instead, or a counter of rounds.
  bool is_replaced(const llvm::Instruction& i) const { return replaced_.contains(&i); }
  // Null: its address does not step with the loop that it is in.
  const Stepping* stepping(const llvm::Instruction& access) const {
    const auto at = steppings_.find(&access);
    return at == steppings_.end() ? nullptr : &at->second;
  }
  // The comparison that ends a loop whose rounds are counted.
  bool is_closing_test(const llvm::Value& v) const { return tests_.contains(&v); }

 private:
  void close(llvm::Loop& loop);
  void find_replaced(llvm::Function& function);
  bool keeps_nobody_waiting(const llvm::Instruction& i) const;
  void find_updates(llvm::Loop& loop);
  const llvm::SCEV* steps_of(const llvm::Value& v) const;
  unsigned operations_of(const llvm::SCEV* s) const;

  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  const unsigned most_repeats_;
  llvm::DenseMap<const llvm::Loop*, LoopShape> shapes_;
  llvm::DenseMap<const llvm::Instruction*, Stepping> steppings_;
  unsigned registers_ = 0;  // that are numbered
  llvm::DenseSet<const llvm::Instruction*> replaced_;
  llvm::DenseSet<const llvm::Value*> tests_;
};

}  // namespace pando::popc
