#include "popc/passes/short_loops.h"

#include <llvm/Analysis/IVDescriptors.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/LoopVersioning.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace pando::popc {

namespace {

using namespace llvm;

constexpr unsigned kVectorBits = 512;
constexpr unsigned kVectors[] = {1, 2};   // of masked code: one needs no loop, and more than two are what is written for long loops
constexpr unsigned kFewest = 3;           // iterations: fewer are faster one by one
constexpr unsigned kMostComparisons = 8;  // of addresses before the copy

bool masks_lanes(const Function& f) {
  const StringRef features = f.getFnAttribute("target-features").getValueAsString();
  return features.contains("+avx512vl") && features.contains("+avx512bw");
}

bool has_hints(const Loop& loop) {
  const MDNode* id = loop.getLoopID();
  if (!id) return false;
  return llvm::any_of(drop_begin(id->operands()), [](const MDOperand& operand) {
    const auto* node = dyn_cast<MDNode>(operand);
    const auto* name = node && node->getNumOperands() > 0 ? dyn_cast<MDString>(node->getOperand(0)) : nullptr;
    return name && (name->getString().starts_with("llvm.loop.vectorize") || name->getString().starts_with("llvm.loop.interleave") ||
                    name->getString() == "llvm.loop.isvectorized");
  });
}

// One instruction for all lanes, with or without a mask.
bool is_lanewise(const Instruction& i) {
  if (isa<PHINode, LoadInst, StoreInst, GetElementPtrInst, CastInst, CmpInst, SelectInst, BranchInst, DbgInfoIntrinsic>(i)) return true;
  if (i.getOpcode() == Instruction::FNeg || i.getOpcode() == Instruction::Freeze) return true;
  if (isa<BinaryOperator>(i)) return !i.isIntDivRem();
  const auto* call = dyn_cast<IntrinsicInst>(&i);
  return call && isTriviallyVectorizable(call->getIntrinsicID());
}

// Bits of the widest element that the loop reads or writes; 0 if it is not one for lanes: other instructions, or elements that do not lie
// side by side.
unsigned widest_element(const Loop& loop, PredicatedScalarEvolution& evolution) {
  static const llvm::DenseMap<llvm::Value*, const llvm::SCEV*> kNoStrides;
  unsigned widest = 0;
  for (const Instruction& i : *loop.getHeader()) {
    if (!is_lanewise(i)) return 0;
    const Value* address = getLoadStorePointerOperand(&i);
    if (!address) continue;
    Type* element = getLoadStoreType(const_cast<Instruction*>(&i));
    const bool whole = element->isIntegerTy(8) || element->isIntegerTy(16) || element->isIntegerTy(32) || element->isIntegerTy(64) ||
                       element->isHalfTy() || element->isFloatTy() || element->isDoubleTy();
    if (!whole) return 0;
    const bool same = isa<LoadInst>(i) && loop.isLoopInvariant(address);
    if (!same && getPtrStride(evolution, element, const_cast<Value*>(address), &loop, kNoStrides, true, false) != 1) return 0;
    widest = std::max(widest, static_cast<unsigned>(element->getPrimitiveSizeInBits()));
  }
  return widest;
}

// What a number or an address of the loop is in each iteration, if that is a first value and equal steps; otherwise null.
const SCEVAddRecExpr* steps_of(PHINode& phi, const Loop& loop, PredicatedScalarEvolution& evolution) {
  const SCEVAddRecExpr* steps = phi.getType()->isIntOrPtrTy() ? evolution.getAsAddRec(&phi) : nullptr;
  return steps && steps->getLoop() == &loop && steps->isAffine() ? steps : nullptr;
}

// Whether an iteration hands nothing to the next but positions and sums of integers. Nothing else can be computed in lanes: a sum of floats
// has an order.
bool carries_only_positions_and_sums(Loop& loop, PredicatedScalarEvolution& evolution) {
  return llvm::all_of(loop.getHeader()->phis(), [&](PHINode& phi) {
    RecurrenceDescriptor sum;
    return steps_of(phi, loop, evolution) || (phi.getType()->isIntegerTy() && RecurrenceDescriptor::isReductionPHI(&phi, &loop, sum));
  });
}

// The loop's numbers that are one more in each iteration.
SmallVector<PHINode*, 4> counters_of(const Loop& loop, PredicatedScalarEvolution& evolution) {
  SmallVector<PHINode*, 4> out;
  for (PHINode& phi : loop.getHeader()->phis()) {
    const SCEVAddRecExpr* steps = phi.getType()->isIntegerTy() ? steps_of(phi, loop, evolution) : nullptr;
    if (steps && steps->getOperand(1)->isOne()) out.push_back(&phi);
  }
  return out;
}

// What the optimiser would check before it believes that numbers do not wrap, where so few iterations cannot make them.
bool follows_from_few(const SCEVPredicate& predicate) {
  if (const auto* all = dyn_cast<SCEVUnionPredicate>(&predicate))
    return llvm::all_of(all->getPredicates(), [](const SCEVPredicate* one) { return follows_from_few(*one); });
  const auto* wraps = dyn_cast<SCEVWrapPredicate>(&predicate);
  if (!wraps || !wraps->getExpr()->isAffine()) return false;
  const auto is_zero_or_one = [](const SCEV* value) { return value->isZero() || value->isOne(); };
  return is_zero_or_one(wraps->getExpr()->getStart()) && is_zero_or_one(wraps->getExpr()->getOperand(1)) &&
         wraps->getExpr()->getType()->getIntegerBitWidth() >= 16;
}

// After it the loop counts its iterations itself, in numbers as wide as its elements: those it counted in before take several vectors for
// the lanes of one, and may wrap for all that the optimiser knows. `last` is small.
void count_to(Loop& loop, Value* last, ArrayRef<PHINode*> counters) {
  BasicBlock *header = loop.getHeader(), *before = loop.getLoopPreheader();
  Type* type = last->getType();
  IRBuilder<> b(&header->front());
  PHINode* index = b.CreatePHI(type, 2, "short.index");
  b.SetInsertPoint(header, header->getFirstInsertionPt());
  for (PHINode* counter : counters) {
    counter->replaceAllUsesWith(b.CreateAdd(counter->getIncomingValueForBlock(before), b.CreateZExtOrTrunc(index, counter->getType())));
    counter->eraseFromParent();
  }
  auto* branch = cast<BranchInst>(header->getTerminator());
  b.SetInsertPoint(branch);
  Value* next = b.CreateAdd(index, ConstantInt::get(type, 1), "short.next", true, true);
  index->addIncoming(ConstantInt::get(type, 0), before);
  index->addIncoming(next, header);
  const bool leaves_if_true = branch->getSuccessor(0) != header;
  branch->setCondition(leaves_if_true ? b.CreateICmpEQ(index, last) : b.CreateICmpNE(index, last));
}

MDNode* property(LLVMContext& c, StringRef name, Metadata* value) { return MDNode::get(c, {MDString::get(c, name), value}); }

void ask_for_masks(Loop& loop) {
  LLVMContext& c = loop.getHeader()->getContext();
  MDNode* mask = property(c, "llvm.loop.vectorize.predicate.enable", ConstantAsMetadata::get(ConstantInt::getTrue(c)));
  MDNode* one = property(c, "llvm.loop.interleave.count", ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(c), 1)));
  // What runs where the vectors' elements overlap.
  MDNode* rest = property(c, "llvm.loop.vectorize.followup_epilogue", MDNode::get(c, MDString::get(c, "llvm.loop.unroll.disable")));
  loop.setLoopID(makePostTransformationMetadata(c, loop.getLoopID(), {}, {mask, one, rest}));
}

// Makes the loop a copy for iterations that fill so many vectors, if it is one that this helps. Returns what remains for others, or null.
Loop* split(Loop& loop, unsigned vectors, const LoopAccessInfo& accesses, LoopInfo& loops, DominatorTree& dominators,
            ScalarEvolution& evolution) {
  if (!loop.getExitingBlock() || has_hints(loop)) return nullptr;
  if (!accesses.canVectorizeMemory() || accesses.hasConvergentOp()) return nullptr;
  if (accesses.getNumRuntimePointerChecks() > kMostComparisons) return nullptr;
  auto& predicated = const_cast<PredicatedScalarEvolution&>(accesses.getPSE());
  const SCEV* last = predicated.getBackedgeTakenCount();
  if (isa<SCEVCouldNotCompute, SCEVConstant>(last) || !last->getType()->isIntegerTy()) return nullptr;
  const unsigned most_so_far = evolution.getSmallConstantMaxTripCount(&loop);
  const unsigned bits = widest_element(loop, predicated);
  if (bits == 0 || !carries_only_positions_and_sums(loop, predicated)) return nullptr;
  const unsigned most = vectors * kVectorBits / bits;
  if (last->getType()->getIntegerBitWidth() < 32 || (most_so_far != 0 && most_so_far <= most)) return nullptr;
  const DataLayout& layout = loop.getHeader()->getModule()->getDataLayout();
  SCEVExpander expander(evolution, layout, "short");
  BasicBlock* check = loop.getLoopPreheader();
  if (!expander.isSafeToExpandAt(last, check->getTerminator())) return nullptr;

  const SmallVector<PHINode*, 4> counters = counters_of(loop, predicated);
  // The comparison stands before what else must hold: most of that follows from it.
  BasicBlock* rest = SplitBlock(check, check->getTerminator(), &dominators, &loops);
  auto* to_rest = check->getTerminator();
  Value* count = expander.expandCodeFor(last, last->getType(), to_rest);
  IRBuilder<> b(to_rest);
  const auto constant = [&](std::uint64_t value) { return ConstantInt::get(count->getType(), value); };
  // `count` is one less than the iterations.
  Value* is_long = b.CreateICmpUGE(b.CreateSub(count, constant(kFewest - 1)), constant(most - (kFewest - 1)), "is.long");
  LoopVersioning versions(accesses, {}, &loop, &loops, &dominators, &evolution);
  versions.versionLoop();
  if (follows_from_few(predicated.getPredicate())) cast<BranchInst>(rest->getTerminator())->setCondition(b.getFalse());
  BasicBlock* as_it_was = versions.getNonVersionedLoop()->getLoopPreheader();
  b.CreateCondBr(is_long, as_it_was, rest);
  to_rest->eraseFromParent();
  dominators.insertEdge(check, as_it_was);
  // The mask tells the optimiser what the comparison found out.
  IRBuilder<> inside(loop.getLoopPreheader()->getTerminator());
  count_to(loop, inside.CreateZExtOrTrunc(inside.CreateAnd(count, constant(most - 1)), inside.getIntNTy(std::max(bits, 16u)), "short.last"),
           counters);
  ask_for_masks(loop);
  evolution.forgetLoop(&loop);
  return versions.getNonVersionedLoop();
}

}  // namespace

PreservedAnalyses ShortLoops::run(Function& f, FunctionAnalysisManager& analyses) {
  if (!masks_lanes(f) || f.hasOptNone() || f.hasOptSize()) return PreservedAnalyses::all();
  LoopInfo& loops = analyses.getResult<LoopAnalysis>(f);
  if (loops.empty()) return PreservedAnalyses::all();
  auto& dominators = analyses.getResult<DominatorTreeAnalysis>(f);
  auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(f);
  LoopAccessInfoManager& accesses = analyses.getResult<LoopAccessAnalysis>(f);
  SmallVector<Loop*, 8> innermost;
  for (Loop* loop : loops.getLoopsInPreorder())
    if (loop->isInnermost()) innermost.push_back(loop);
  bool changed = false;
  for (Loop* loop : innermost) {
    if (!loop->isLoopSimplifyForm() || loop->getNumBlocks() != 1) continue;
    for (const unsigned vectors : kVectors) {
      if (loop) loop = split(*loop, vectors, accesses.getInfo(*loop), loops, dominators, evolution);
      accesses.clear();
      changed = changed || loop;
    }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace pando::popc
