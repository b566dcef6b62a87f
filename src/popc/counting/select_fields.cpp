#include "popc/counting/selector.h"

#include <llvm/Analysis/ValueTracking.h>

namespace pando::popc {

using namespace llvm;

// Additions, products and comparisons of vectors take one number for all lanes as one of the operands, subtractions as the first.
bool Selector::takes_a_scalar(const Instruction& user, const Value& operand) {
  const unsigned opcode = user.getOpcode();
  if (opcode == Instruction::FSub) return user.getOperand(0) == &operand && user.getOperand(1) != &operand;
  const bool has_form = opcode == Instruction::FAdd || opcode == Instruction::FMul || opcode == Instruction::FCmp;
  return has_form && user.getOperand(0) != user.getOperand(1);
}

bool Selector::may_change(const StoreInst& store, const LoadInst& field) {
  const Type* type = store.getValueOperand()->getType();
  return (type->isVectorTy() || type == field.getType()) && !isa<AllocaInst>(getUnderlyingObject(store.getPointerOperand()));
}

Values Selector::stores_that_change(const LoadInst& field) const {
  Values out;
  for (const auto& [store, makers] : last_store_)
    if (may_change(*cast<StoreInst>(store), field)) out.append(makers.begin(), makers.end());
  return out;
}

// Behind such a store, its fields are loaded once more.
void Selector::forget_fields(const StoreInst& store) {
  SmallVector<const Value*, 4> forgotten;
  for (const auto& [value, makers] : made_) {
    const auto* maker = dyn_cast<Instruction>(value);
    if (!maker || maker->getParent() == store.getParent()) continue;
    if (const LoadInst* field = field_behind(value); field && may_change(store, *field)) forgotten.push_back(value);
  }
  for (const Value* value : forgotten) made_.erase(value);
}

// A field of the vertex, or what broadcasts one.
const LoadInst* Selector::field_behind(const Value* v) const {
  if (const auto* shuffle = dyn_cast<ShuffleVectorInst>(v); shuffle && shuffle->isZeroEltSplat()) v = shuffle->getOperand(0);
  if (const auto* insert = dyn_cast<InsertElementInst>(v); insert && isa<UndefValue>(insert->getOperand(0))) v = insert->getOperand(1);
  const auto* load = dyn_cast<LoadInst>(v);
  const bool is_number = load && (load->getType()->isFloatingPointTy() || load->getType()->isIntegerTy(32));
  if (!is_number || load->hasMetadata(LLVMContext::MD_invariant_load) || function_.arg_empty()) return nullptr;
  return getUnderlyingObject(load->getPointerOperand()) == function_.getArg(0) ? load : nullptr;
}

// As far as C++ knows, a store of an element could change a field of its type: a tile's compiler loads the field again in each round of a
// loop that stores such elements. A store of a vector could change any.
bool Selector::is_loaded_again(const Value* v, const BasicBlock* user) {
  const Loop* loop = loops_.getLoopFor(user);
  const LoadInst* field = loop ? field_behind(v) : nullptr;
  if (!field || loop->contains(field)) return false;
  return any_of(loop->blocks(), [&](const BasicBlock* b) {
    return any_of(*b, [&](const Instruction& i) {
      const auto* store = dyn_cast<StoreInst>(&i);
      return store && may_change(*store, *field);
    });
  });
}

}  // namespace pando::popc
