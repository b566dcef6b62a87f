#include "popc/passes/checked_ranges.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include "codelet/store/gp_file.h"
#include "popc/passes/checked.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

// Through what changes an address, not what it is made from.
Value* stripped(Value* v) {
  for (;;) {
    if (auto* gep = dyn_cast<GEPOperator>(v))
      v = gep->getPointerOperand();
    else if (auto* cast = dyn_cast<BitCastOperator>(v))
      v = cast->getOperand(0);
    else if (auto* intrinsic = dyn_cast<IntrinsicInst>(v); intrinsic && intrinsic->getIntrinsicID() == Intrinsic::launder_invariant_group)
      v = intrinsic->getArgOperand(0);
    else if (auto* freeze = dyn_cast<FreezeInst>(v))
      v = freeze->getOperand(0);
    else
      return v;
  }
}

// Its range can be asked for: an argument, or what an instruction gives.
bool is_root(Value* v, const Function& function) {
  if (!v->getType()->isPointerTy()) return false;
  if (isa<Argument>(v))
    return !function.getName().starts_with(kEntryPrefix);  // an entry's are vertices, and where it says which comes next
  return isa<LoadInst>(v) || (isa<CallInst>(v) && !isa<IntrinsicInst>(v)) || isa<ExtractValueInst>(v);
}

bool leads_to_root(Value* v, const Function& function, SmallPtrSet<Value*, 16>& seen) {
  v = stripped(v);
  if (!seen.insert(v).second) return false;
  if (is_root(v, function)) return true;
  if (auto* phi = dyn_cast<PHINode>(v)) return any_of(phi->incoming_values(), [&](Value* in) { return leads_to_root(in, function, seen); });
  if (auto* select = dyn_cast<SelectInst>(v))
    return leads_to_root(select->getTrueValue(), function, seen) || leads_to_root(select->getFalseValue(), function, seen);
  return false;
}

}  // namespace

bool Ranges::is_checked(Value* address) {
  SmallPtrSet<Value*, 16> seen;
  return address->getType()->isPointerTy() && leads_to_root(address, function_, seen);
}

Range Ranges::everything(Value* base) const {
  Type* number = Type::getInt64Ty(function_.getContext());
  return {base, ConstantInt::get(number, 0), ConstantInt::get(number, ~0ull)};
}

Range Ranges::of_root(Value* root) {
  // Behind the instruction, or where the function begins.
  BasicBlock::iterator where = function_.getEntryBlock().getFirstInsertionPt();
  while (isa<AllocaInst>(&*where)) ++where;
  if (auto* instruction = dyn_cast<Instruction>(root)) {
    where = std::next(instruction->getIterator());
    if (isa<PHINode>(&*where)) where = instruction->getParent()->getFirstInsertionPt();
  }
  IRBuilder<> b(where->getParent(), where);
  auto* pair = StructType::get(function_.getContext(), {b.getInt64Ty(), b.getInt64Ty()});
  auto* type = FunctionType::get(pair, {b.getPtrTy(), b.getInt32Ty()}, false);
  CallInst* call = b.CreateCall(type, runtime_entry(b, RuntimeEntry::checked_range), {root, b.getInt32(isa<LoadInst>(root))});
  call->setDoesNotThrow();
  return {root, b.CreateExtractValue(call, 0), b.CreateExtractValue(call, 1)};
}

// Where paths meet, so do ranges.
Range Ranges::of_merge(Instruction* merge) {
  IRBuilder<> b(merge);
  if (auto* select = dyn_cast<SelectInst>(merge)) {
    const Range yes = of(select->getTrueValue()), no = of(select->getFalseValue());
    b.SetInsertPoint(std::next(merge->getIterator())->getParent(), std::next(merge->getIterator()));
    const auto choose = [&](Value* x, Value* y) { return x == y ? x : b.CreateSelect(select->getCondition(), x, y); };
    return known_[merge] = {choose(yes.base, no.base), choose(yes.begin, no.begin), choose(yes.end, no.end)};
  }
  auto* phi = cast<PHINode>(merge);
  const unsigned n = phi->getNumIncomingValues();
  PHINode *base = b.CreatePHI(b.getPtrTy(), n), *begin = b.CreatePHI(b.getInt64Ty(), n), *end = b.CreatePHI(b.getInt64Ty(), n);
  known_[merge] = {base, begin, end};
  for (unsigned i = 0; i < n; ++i) {
    const Range r = of(phi->getIncomingValue(i));
    base->addIncoming(r.base, phi->getIncomingBlock(i));
    begin->addIncoming(r.begin, phi->getIncomingBlock(i));
    end->addIncoming(r.end, phi->getIncomingBlock(i));
  }
  return {base, begin, end};
}

Range Ranges::of(Value* address) {
  Value* v = stripped(address);
  if (const auto it = known_.find(v); it != known_.end()) return it->second;
  Range range = everything(v);
  if (is_root(v, function_))
    range = of_root(v);
  else if ((isa<PHINode>(v) || isa<SelectInst>(v)) && v->getType()->isPointerTy() && is_checked(v))
    return of_merge(cast<Instruction>(v));
  known_[v] = range;
  return range;
}

}  // namespace pando::popc
