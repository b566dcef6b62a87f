#include "popc/counting/selector.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>

#include "popc/counting/integers.h"
#include "popc/counting/patterns.h"

namespace pando::popc {

using namespace llvm;

// In front of the outermost loop around it.
BasicBlock* Selector::place_of(BasicBlock* b) const {
  BasicBlock* place = b;
  for (Loop* loop = loops_.getLoopFor(b); loop; loop = loop->getParentLoop())
    if (BasicBlock* before = loop->getLoopPreheader()) place = before;
  return place;
}

unsigned Selector::constant_instructions(const Constant& c) {
  if (const Constant* splat = c.getType()->isVectorTy() ? c.getSplatValue() : nullptr) return constant_instructions(*splat);
  if (const auto* f = dyn_cast<ConstantFP>(&c)) {
    if (f->isZero() && !f->isNegative()) return 0;
    const std::uint64_t bits = f->getValueAPF().bitcastToAPInt().getZExtValue();
    return (bits & 0xfffff) && (bits >> 20) ? 2 : 1;  // `or` of the upper 12 bits, `setzi` of the lower 20
  }
  if (const auto* v = dyn_cast<ConstantDataVector>(&c))
    return c.isNullValue() ? 0 : (v->getNumElements() * v->getElementByteSize() + 3) / 4;
  return 0;
}

void Selector::place_constants() {
  MapVector<std::pair<BasicBlock*, Constant*>, const char*> placed;
  for (Instruction& i : instructions(function_)) {
    if (isa<PHINode>(i) || i.isDebugOrPseudoInst()) continue;
    for (Value* operand : i.operands()) {
      auto* c = dyn_cast<Constant>(operand);
      if (!c) continue;
      const bool is_number = c->getType()->isFPOrFPVectorTy();
      const auto* integer = dyn_cast<ConstantInt>(c);
      const bool stays = !integer || is_word(i) || isa<GetElementPtrInst, SwitchInst>(i) || (isa<CallBase>(i)) ||
                         (!isa<StoreInst>(i) && (integer->getValue().isSignedIntN(16) || integer->getValue().isIntN(16))) ||
                         integer->isZero();
      if (is_number && constant_instructions(*c) > 0) placed[{place_of(i.getParent()), c}] = "a.or";
      if (!is_number && !stays && !i.isIntDivRem() && !shapes_.is_replaced(i) && !shapes_.is_closing_test(i))
        placed[{place_of(i.getParent()), c}] = "setzi";
    }
  }
  for (const auto& [at, name] : placed) {
    const auto* integer = dyn_cast<ConstantInt>(at.second);
    for (unsigned n = integer ? integer_constant_instructions(integer->getValue()) : constant_instructions(*at.second); n > 0; --n)
      extras_[at.first].push_back(
          {integer && n == 1 && integer_constant_instructions(integer->getValue()) > 1 ? "or" : name, "a constant"});
  }
}

// What a loop or a join begins with, where that is a constant.
void Selector::place_phis() {
  for (BasicBlock& b : function_)
    for (PHINode& phi : b.phis()) {
      if (shapes_.is_replaced(phi) || phi.use_empty()) continue;
      for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
        if (isa<ConstantInt, ConstantFP, ConstantAggregateZero, ConstantDataVector>(phi.getIncomingValue(i)))
          extras_[phi.getIncomingBlock(i)].push_back({is_aux(*phi.getType()) ? "a.mov" : "mov", "where a value begins"});
    }
}

}  // namespace pando::popc
