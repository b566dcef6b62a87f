#include "popc/counting/selector.h"

#include <llvm/IR/PatternMatch.h>

#include "popc/counting/patterns.h"

namespace pando::popc {

using namespace llvm;

// A comparison with zero is part of the branch on it.
bool Selector::is_part_of_branch(const ICmpInst& compare) {
  if (!compare.hasOneUse() || !isa<BranchInst>(compare.user_back()) || compare.user_back()->getParent() != compare.getParent())
    return false;
  if (compare.isEquality()) return PatternMatch::match(compare.getOperand(1), PatternMatch::m_Zero());
  return (compare.getPredicate() == CmpInst::ICMP_SLT && PatternMatch::match(compare.getOperand(1), PatternMatch::m_Zero())) ||
         (compare.getPredicate() == CmpInst::ICMP_SGT && PatternMatch::match(compare.getOperand(1), PatternMatch::m_AllOnes()));
}

// All but masks that floating-point values are selected by.
bool Selector::needs_flag(const Instruction& compare) {
  return any_of(compare.users(), [](const User* u) { return !isa<SelectInst>(u) || !is_aux(*u->getType()); });
}

// What the next round of a loop begins with, and nothing else.
bool Selector::is_update(const Instruction& i) const {
  if (is_aux(*i.getType())) return false;
  return all_of(i.users(), [&](const User* u) {
    if (shapes_.is_closing_test(*u)) return true;
    const auto* phi = dyn_cast<PHINode>(u);
    const Loop* loop = phi ? loops_.getLoopFor(phi->getParent()) : nullptr;
    return loop && phi->getParent() == loop->getHeader() && loop->contains(&i);
  });
}

void Selector::select_terminator(Instruction& i) {
  BasicBlock* b = i.getParent();
  for (const Extra& e : extras_[b]) emit(e.name, {}, nullptr, e.text);
  Loop* loop = loops_.getLoopFor(b);
  if (loop && loop->getLoopLatch() == b) {
    const LoopShape& shape = shapes_.of(*loop);
    for (unsigned n = 0; n < shape.updates; ++n) segment().issues[emit("add", {}, nullptr, "the next addresses")].late = true;
    if (shape.closing == Closing::repeats) return static_cast<void>(out_.blocks.back().repeats = true);
    if (shape.closing == Closing::counts) {
      hold({loop, 1}, {Pipe::main, 1, true, false});
      return static_cast<void>(emit("brnzdec", {}, &i));
    }
    if (shape.closing == Closing::counts_down) {
      segment().issues[emit("add", {}, &i, "rounds that are left")].late = true;
      return static_cast<void>(emit("brnz", {}, &i));
    }
  }
  if (auto* branch = dyn_cast<BranchInst>(&i)) return select_branch(*branch);
  if (auto* ret = dyn_cast<ReturnInst>(&i)) return select_return(*ret);
  if (auto* choice = dyn_cast<SwitchInst>(&i)) {
    unsigned depth = 1;
    while ((1u << depth) <= choice->getNumCases()) ++depth;
    for (unsigned n = 0; n < depth; ++n) emit("cmpult", makers_of(i), &i);
    for (unsigned n = 0; n < depth; ++n) emit("brnz", {}, &i);
    return;
  }
  if (!isa<UnreachableInst>(i)) reject(std::string("it has the operation '") + i.getOpcodeName() + "'");
}

void Selector::select_branch(BranchInst& branch) {
  if (branch.isConditional()) return static_cast<void>(emit("brnz", makers_of(branch), &branch));
  // The block that follows in the text is reached without a branch, and so is the first block of a loop.
  BasicBlock *from = branch.getParent(), *to = branch.getSuccessor(0);
  const Loop* loop = loops_.getLoopFor(to);
  const bool enters = loop && loop->getHeader() == to && !loop->contains(from);
  if (!enters && from->getNextNode() != to && to->hasNPredecessorsOrMore(2)) emit("bri", {}, &branch);
}

void Selector::select_return(ReturnInst& i) {
  if (const Value* value = i.getReturnValue(); value && isa<Constant>(value)) emit(is_aux(*value->getType()) ? "a.mov" : "setzi", {}, &i);
  if (calls_) emit("ld32", {}, &i, "where to return");
  if (has_frame_) emit("add", {}, &i, "room on the stack");
  emit("br", makers_of(i), &i);
}

}  // namespace pando::popc
