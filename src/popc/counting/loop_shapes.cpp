#include "popc/counting/loop_shapes.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>

namespace pando::popc {

namespace {

using namespace llvm;

const Value* address_of(const Instruction& i) {
  if (const auto* load = dyn_cast<LoadInst>(&i)) return load->getPointerOperand();
  if (const auto* store = dyn_cast<StoreInst>(&i)) return store->getPointerOperand();
  return nullptr;
}

// Numbers of 32 bits that are widened to 64 wrap around, or not, as addresses of 32 bits do: what steps before it is widened steps after
// it.
class Widened : public SCEVRewriteVisitor<Widened> {
 public:
  using SCEVRewriteVisitor<Widened>::SCEVRewriteVisitor;
  const SCEV* visitZeroExtendExpr(const SCEVZeroExtendExpr* e) { return widen(e, false); }
  const SCEV* visitSignExtendExpr(const SCEVSignExtendExpr* e) { return widen(e, true); }

 private:
  const SCEV* widen(const SCEVCastExpr* e, bool is_signed) {
    Type* type = e->getType();
    const SCEV* operand = visit(e->getOperand());
    const auto wide = [&](const SCEV* s) {
      return is_signed || isa<SCEVConstant>(s) ? SE.getSignExtendExpr(s, type) : SE.getZeroExtendExpr(s, type);
    };
    if (const auto* r = dyn_cast<SCEVAddRecExpr>(operand); r && r->isAffine())
      return SE.getAddRecExpr(wide(r->getStart()), SE.getSignExtendExpr(r->getStepRecurrence(SE), type), r->getLoop(), SCEV::FlagAnyWrap);
    if (const auto* sum = dyn_cast<SCEVAddExpr>(operand)) {
      SmallVector<const SCEV*, 4> parts;
      for (const SCEV* part : sum->operands()) parts.push_back(wide(part));
      return SE.getAddExpr(parts);
    }
    return wide(operand);
  }
};

bool is_step(const SCEV* s, const Loop* loop) {
  const auto* r = dyn_cast<SCEVAddRecExpr>(s);
  return r && r->isAffine() && (!loop || r->getLoop() == loop);
}

bool calls_something(const Loop& loop) {
  for (const BasicBlock* b : loop.blocks())
    for (const Instruction& i : *b)
      if (const auto* call = dyn_cast<CallBase>(&i); call && !isa<IntrinsicInst>(call) && !call->doesNotAccessMemory()) return true;
  return false;
}

}  // namespace

LoopShapes::LoopShapes(Function& function, LoopInfo& loops, ScalarEvolution& evolution, unsigned most_repeats)
    : loops_(loops), evolution_(evolution), most_repeats_(most_repeats) {
  const auto all = loops.getLoopsInPreorder();
  for (Loop* loop : all) close(*loop);
  find_replaced(function);
  for (Loop* loop : all) find_updates(*loop);
}

const SCEV* LoopShapes::steps_of(const Value& v) const { return Widened(evolution_).visit(evolution_.getSCEV(const_cast<Value*>(&v))); }

// Instructions that a value of before the loop takes: what is in a register already takes none.
unsigned LoopShapes::operations_of(const SCEV* s) const {
  if (isa<SCEVConstant, SCEVUnknown>(s)) return 0;
  if (const auto* cast = dyn_cast<SCEVCastExpr>(s)) return operations_of(cast->getOperand());
  unsigned sum = 0;
  if (const auto* n = dyn_cast<SCEVNAryExpr>(s)) {
    if (isa<SCEVAddRecExpr>(s)) return operations_of(n->getOperand(0));
    for (const SCEV* operand : n->operands())
      if (!operand->isAllOnesValue()) sum += operations_of(operand);  // -x: a subtraction
    const auto parts = static_cast<unsigned>(n->getNumOperands());
    if (isa<SCEVMulExpr>(s) && n->getOperand(0)->isAllOnesValue()) return sum + parts - 2;
    return sum + (isa<SCEVAddExpr, SCEVMulExpr>(s) ? 1 : 2) * (parts - 1);  // a minimum or maximum compares and moves
  }
  return 1;
}

void LoopShapes::close(Loop& loop) {
  LoopShape& shape = shapes_[&loop];
  BasicBlock* latch = loop.getLoopLatch();
  auto* branch = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
  if (!branch || !branch->isConditional() || !loop.getLoopPreheader()) return;
  const SCEV* rounds = evolution_.getExitCount(&loop, latch);
  auto* test = dyn_cast<ICmpInst>(branch->getCondition());
  if (isa<SCEVCouldNotCompute>(rounds) || !test || !test->hasOneUse()) return;
  tests_.insert(test);
  const bool is_inner = loop.isInnermost() && !calls_something(loop);
  const bool is_one_block = loop.getNumBlocks() == 1;
  const ConstantRange range = evolution_.getUnsignedRange(evolution_.getConstantMaxBackedgeTakenCount(&loop));
  const bool fits = range.getUnsignedMax().ult(most_repeats_);
  shape.closing = !is_inner ? Closing::counts_down : is_one_block && fits ? Closing::repeats : Closing::counts;
  const bool is_known = isa<SCEVConstant>(rounds);
  if (shape.closing == Closing::repeats) {
    if (!is_known)
      for (unsigned i = operations_of(evolution_.getAddExpr(rounds, evolution_.getOne(rounds->getType()))); i > 0; --i)
        shape.before.push_back("add");
    shape.before.push_back("rpt");
  } else {
    if (is_known) shape.before.push_back("setzi");
    for (unsigned i = is_known ? 0 : operations_of(rounds); i > 0; --i) shape.before.push_back("add");
  }
}

// Everything that steps with a loop is taken for replaced, until something needs its value: neither an address of a load or store that
// steps, nor the test of a counted loop, nor another replaced value.
void LoopShapes::find_replaced(Function& function) {
  for (Instruction& i : instructions(function)) {
    if (!evolution_.isSCEVable(i.getType()) || i.getType()->isIntegerTy(1) || isa<LoadInst, CallBase>(i)) continue;
    if (loops_.getLoopFor(i.getParent()) && is_step(steps_of(i), nullptr)) replaced_.insert(&i);
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (Instruction& i : instructions(function))
      if (replaced_.contains(&i) && !keeps_nobody_waiting(i)) changes = replaced_.erase(&i) || changes;
  }
}

bool LoopShapes::keeps_nobody_waiting(const Instruction& i) const {
  for (const User* user : i.users()) {
    const auto& u = *cast<Instruction>(user);
    if (replaced_.contains(&u) || tests_.contains(&u)) continue;
    const Loop* loop = loops_.getLoopFor(u.getParent());
    // A value of after its loop is computed from the number of rounds, before or behind it.
    const auto* r = dyn_cast<SCEVAddRecExpr>(steps_of(i));
    if (address_of(u) == &i && loop && r && (r->getLoop() == loop || r->getLoop()->contains(loop))) continue;
    return false;
  }
  return true;
}

// Loads and stores step their own address if a stride has few of them, each with a place of its own; else one register steps for all.
void LoopShapes::find_updates(Loop& loop) {
  constexpr std::size_t kMostSteppers = 4;
  struct Group {
    const SCEV* start;
    SmallVector<std::pair<const Instruction*, std::int64_t>> accesses;  // and how far from the first one
  };
  std::map<std::string, SmallVector<Group>> by_stride;
  for (BasicBlock* b : loop.blocks()) {
    if (loops_.getLoopFor(b) != &loop) continue;
    for (Instruction& i : *b) {
      const Value* address = address_of(i);
      if (!address) continue;
      const SCEV* s = steps_of(*address);
      if (!is_step(s, &loop)) continue;
      const auto* r = cast<SCEVAddRecExpr>(s);
      std::string stride;
      raw_string_ostream(stride) << *r->getStepRecurrence(evolution_);
      auto& groups = by_stride[stride];
      const auto same = find_if(groups, [&](const Group& g) { return isa<SCEVConstant>(evolution_.getMinusSCEV(r->getStart(), g.start)); });
      if (same == groups.end())
        groups.push_back({r->getStart(), {{&i, 0}}});
      else
        same->accesses.push_back({&i, cast<SCEVConstant>(evolution_.getMinusSCEV(r->getStart(), same->start))->getAPInt().getSExtValue()});
    }
  }
  LoopShape& shape = shapes_[&loop];
  for (const auto& [stride, groups] : by_stride) {
    const bool steps = groups.size() <= kMostSteppers && all_of(groups, [](const Group& g) { return g.accesses.size() == 1; });
    shape.updates += steps ? 0 : 1;
    if (!steps) shape.before.push_back("mov");
    const unsigned index = steps ? 0 : ++registers_;
    for (const Group& g : groups) {
      for (unsigned n = operations_of(g.start); n > 0; --n) shape.before.push_back("add");
      const unsigned base = ++registers_;
      for (const auto& [access, distance] : g.accesses)
        steppings_[access] = {base, index, distance < 0 && access->getParent() == g.accesses.front().first->getParent()};
    }
  }
}

}  // namespace pando::popc
