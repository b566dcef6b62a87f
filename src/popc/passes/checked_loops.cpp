#include "popc/passes/checked_loops.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace pando::popc {

namespace {

using namespace llvm;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;  // that a loop goes through: sums of addresses do not wrap
constexpr std::size_t kMostCopied = 2000;                     // of a loop that is copied
constexpr unsigned kFewIterations = 2;                        // of a loop that has no more, as is known: to compare before costs as much

// Accesses that keep their distances while the loop goes on: from `low` to `high` bytes after `start`, `step` bytes further each time.
struct Stretch {
  Value* base;  // of `start`, outside the loop
  const SCEV* start;
  std::int64_t step;
  std::int64_t low, high;
};

class LoopCheck {
 public:
  LoopCheck(Loop& loop, ScalarEvolution& evolution, Ranges& ranges) : loop_(loop), evolution_(evolution), ranges_(ranges) {}

  // Whether there is anything that can be compared before.
  bool plan() {
    if (!loop_.isLoopSimplifyForm() || !loop_.isSafeToClone() || is_large()) return false;
    last_ = evolution_.getSymbolicMaxBackedgeTakenCount(&loop_);
    if (isa<SCEVCouldNotCompute>(last_) || !last_->getType()->isIntegerTy() || last_->getType()->getIntegerBitWidth() > 64) return false;
    if (const unsigned known = evolution_.getSmallConstantTripCount(&loop_); known != 0 && known <= kFewIterations) return false;
    for (BasicBlock* block : loop_.blocks())
      for (Instruction& i : *block) add(i);
    return !stretches_.empty();
  }
  ArrayRef<Instruction*> accesses() const { return accesses_; }

  // In front of the loop: whether all is inside. Null if that cannot be computed there.
  Value* emit() {
    Instruction* const at = loop_.getLoopPreheader()->getTerminator();
    SCEVExpander expander(evolution_, at->getModule()->getDataLayout(), "checked");
    if (!expander.isSafeToExpandAt(last_, at)) return nullptr;
    std::uint64_t longest = 1;
    for (const Stretch& s : stretches_) {
      if (!expander.isSafeToExpandAt(s.start, at)) return nullptr;
      longest = std::max(longest, size_of_step(s));
    }
    Value* const count = expander.expandCodeFor(last_, last_->getType(), at);
    std::vector<Value*> starts;
    for (const Stretch& s : stretches_) starts.push_back(expander.expandCodeFor(s.start, s.start->getType(), at));
    IRBuilder<> b(at);
    Value* const steps = b.CreateZExtOrTrunc(count, b.getInt64Ty());
    Value* inside = b.CreateICmpULT(steps, b.getInt64(kMostBytes / longest));
    for (std::size_t i = 0; i < stretches_.size(); ++i) inside = b.CreateAnd(inside, is_inside(b, stretches_[i], starts[i], steps));
    return inside;
  }

 private:
  static std::uint64_t size_of_step(const Stretch& s) { return static_cast<std::uint64_t>(std::abs(s.step)); }

  bool is_large() const {
    std::size_t all = 0;
    for (const BasicBlock* block : loop_.blocks()) all += block->size();
    return all > kMostCopied;
  }

  void add(Instruction& i) {
    auto* const address = const_cast<Value*>(getLoadStorePointerOperand(&i));
    if (!address || i.isAtomic() || i.isVolatile() || i.hasMetadata(LLVMContext::MD_invariant_load)) return;
    const TypeSize bytes = i.getModule()->getDataLayout().getTypeStoreSize(getLoadStoreType(&i));
    if (bytes.isScalable() || !ranges_.is_checked(address)) return;
    const SCEV* start = evolution_.getSCEV(address);
    std::int64_t step = 0;
    if (const auto* moves = dyn_cast<SCEVAddRecExpr>(start); moves && moves->getLoop() == &loop_) {
      const auto* by = moves->isAffine() ? dyn_cast<SCEVConstant>(moves->getStepRecurrence(evolution_)) : nullptr;
      if (!by || by->getAPInt().getSignificantBits() > 32) return;
      step = by->getAPInt().getSExtValue();
      start = moves->getStart();
    }
    if (!evolution_.isLoopInvariant(start, &loop_)) return;
    const auto* base = dyn_cast<SCEVUnknown>(evolution_.getPointerBase(start));
    if (!base || !ranges_.is_checked(base->getValue())) return;
    accesses_.push_back(&i);
    const auto size = static_cast<std::int64_t>(bytes.getFixedValue());
    for (Stretch& s : stretches_) {
      if (s.base != base->getValue() || s.step != step) continue;
      const auto* distance = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(start, s.start));
      if (!distance || distance->getAPInt().getSignificantBits() > 32) continue;
      s.low = std::min(s.low, distance->getAPInt().getSExtValue());
      s.high = std::max(s.high, distance->getAPInt().getSExtValue() + size);
      return;
    }
    stretches_.push_back({base->getValue(), start, step, 0, size});
  }

  // Where all bytes begin, and how many they are, against the range: no sum wraps, as `steps` are not too many.
  Value* is_inside(IRBuilder<>& b, const Stretch& s, Value* start, Value* steps) {
    const Range range = ranges_.of(s.base);
    Value* const way = b.CreateMul(steps, b.getInt64(size_of_step(s)));
    Value* begin = b.CreateAdd(b.CreatePtrToInt(start, b.getInt64Ty()), b.getInt64(static_cast<std::uint64_t>(s.low)));
    if (s.step < 0) begin = b.CreateSub(begin, way);
    Value* const bytes = b.CreateAdd(way, b.getInt64(static_cast<std::uint64_t>(s.high - s.low)));
    Value *const before = b.CreateSub(begin, range.begin), *const all = b.CreateSub(range.end, range.begin);
    return b.CreateAnd(b.CreateICmpULE(before, all), b.CreateICmpULE(bytes, b.CreateSub(all, before)));
  }

  Loop& loop_;
  ScalarEvolution& evolution_;
  Ranges& ranges_;
  const SCEV* last_ = nullptr;  // one less than the most iterations
  std::vector<Stretch> stretches_;
  std::vector<Instruction*> accesses_;
};

// The loop's copy runs where `inside` is false.
void copy_for_checks(Loop& loop, Value* inside, LoopInfo& loops, DominatorTree& dominators) {
  BasicBlock* const before = loop.getLoopPreheader();
  SmallVector<BasicBlock*, 4> exits;
  loop.getUniqueExitBlocks(exits);
  BasicBlock* const into = SplitBlock(before, before->getTerminator(), &dominators, &loops);
  ValueToValueMapTy copies;
  SmallVector<BasicBlock*, 16> blocks;
  Loop* const copy = cloneLoopWithPreheader(into, before, &loop, copies, ".checked", &loops, &dominators, blocks);
  remapInstructionsInBlocks(blocks, copies);
  for (BasicBlock* exit : exits)
    for (PHINode& phi : exit->phis())
      for (unsigned i = 0, n = phi.getNumIncomingValues(); i < n; ++i) {
        const auto block = copies.find(phi.getIncomingBlock(i));
        if (block == copies.end()) continue;
        Value* const value = phi.getIncomingValue(i);
        const auto copied = copies.find(value);
        phi.addIncoming(copied == copies.end() ? value : static_cast<Value*>(copied->second), cast<BasicBlock>(block->second));
      }
  Instruction* const old = before->getTerminator();
  BranchInst::Create(loop.getLoopPreheader(), copy->getLoopPreheader(), inside, old->getIterator())
      ->setMetadata(LLVMContext::MD_prof, MDBuilder(before->getContext()).createLikelyBranchWeights());
  old->eraseFromParent();
  dominators.recalculate(*before->getParent());
}

}  // namespace

CheckedAccesses check_loops_before(Function& function, Ranges& ranges) {
  CheckedAccesses done;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  if (loops.empty() || function.hasOptNone()) return done;
  AssumptionCache assumptions(function);
  TargetLibraryInfoImpl of_target(Triple(function.getParent()->getTargetTriple()));
  TargetLibraryInfo library(of_target);
  ScalarEvolution evolution(function, library, assumptions, dominators, loops);
  const SmallVector<Loop*, 8> outermost(loops.begin(), loops.end());
  for (Loop* loop : outermost) {
    simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr, false);
    formLCSSARecursively(*loop, dominators, &loops, &evolution);
  }
  std::vector<std::pair<Loop*, Value*>> copied;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost()) continue;
    LoopCheck check(*loop, evolution, ranges);
    Value* const inside = check.plan() ? check.emit() : nullptr;
    if (!inside) continue;
    copied.push_back({loop, inside});
    done.insert(check.accesses().begin(), check.accesses().end());
  }
  for (const auto& [loop, inside] : copied) copy_for_checks(*loop, inside, loops, dominators);
  return done;
}

}  // namespace pando::popc
