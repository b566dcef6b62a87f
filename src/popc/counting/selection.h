// From a function's IR to a worker's instructions, block by block: what a tile's compiler would select. A row for each pattern.
#pragma once

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

#include <string>
#include <vector>

#include "machine/worker/issue.h"
#include "popc/counting/loop_shapes.h"

namespace pando::popc {

// What runs between two reads of the cycle counter, or from one end of the block to the other.
struct Segment {
  llvm::Instruction* begin = nullptr;  // the read of the counter that it begins with; null: the block's first instruction
  std::vector<Issue> issues;
  std::vector<const llvm::DILocation*> places;  // of the first of these instructions; null: it has none
  std::vector<Bundle> bundles;
};

struct SelectedBlock {
  llvm::BasicBlock* block = nullptr;
  std::vector<Segment> segments;
  bool repeats = false;  // the body of a rpt: all of it bundles
};

struct SelectedFunction {
  std::vector<SelectedBlock> blocks;  // in the function's order
  std::string rejection;              // why it cannot be counted; empty: it can
};

SelectedFunction select(llvm::Function& function, LoopShapes& shapes, llvm::LoopInfo& loops, llvm::AAResults& aliases);

// For people: the instructions of each block, in bundles.
std::string print(const SelectedFunction& selected, const std::string& name);

}  // namespace pando::popc
