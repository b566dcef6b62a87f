#include "popc/passes/checked_ranges.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <cstddef>
#include <tuple>

#include "codelet/store/codelet.h"
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
  if (const auto* argument = dyn_cast<Argument>(v)) {
    // An entry's are vertices, and where it says which comes next. What lies in a vertex itself is not checked.
    return !function.getName().starts_with(kEntryPrefix) && !function.getAttributes().hasParamAttr(argument->getArgNo(), kFieldsAttribute);
  }
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

Ranges::Ranges(Function& function) : function_(function) {
  for (Argument& a : function.args()) {
    const Attribute fields = function.getAttributes().getParamAttr(a.getArgNo(), kFieldsAttribute);
    if (fields.isValid()) vertices_.push_back({&a, 0, fields.getValueAsString()});
  }
  // In an entry, which says which vertex comes next.
  for (Instruction& i : instructions(function)) {
    auto* call = dyn_cast<CallBase>(&i);
    const Attribute fields = call && call->arg_size() > 1 ? call->getParamAttr(1, kFieldsAttribute) : Attribute();
    if (!fields.isValid()) continue;
    APInt offset(64, 0);
    Value* const base = call->getArgOperand(1)->stripAndAccumulateConstantOffsets(function.getParent()->getDataLayout(), offset, true);
    vertices_.push_back({base, offset.getSExtValue(), fields.getValueAsString()});
  }
}

bool Ranges::is_checked(Value* address) {
  SmallPtrSet<Value*, 16> seen;
  return address->getType()->isPointerTy() && leads_to_root(address, function_, seen);
}

Range Ranges::everything(Value* base) const {
  Type* number = Type::getInt64Ty(function_.getContext());
  return {base, ConstantInt::get(number, 0), ConstantInt::get(number, ~0ull)};
}

std::optional<Ranges::FieldMemory> Ranges::field_at(StringRef fields, std::int64_t offset) {
  while (!fields.empty()) {
    StringRef field;
    std::tie(field, fields) = fields.split(';');
    SmallVector<StringRef, 3> words;
    field.split(words, ' ');
    std::int64_t at = 0;
    unsigned form = 0;
    std::uint64_t bytes = 0;
    if (words.size() != 3 || words[0].getAsInteger(10, at) || words[1].getAsInteger(10, form) || words[2].getAsInteger(10, bytes)) continue;
    if (at == offset) return FieldMemory{static_cast<FieldForm>(form), bytes};
  }
  return std::nullopt;
}

std::optional<Ranges::FieldMemory> Ranges::piece_of(LoadInst& load) const {
  if (!load.getType()->isPointerTy()) return std::nullopt;
  APInt offset(64, 0);
  Value* const from = load.getPointerOperand()->stripAndAccumulateConstantOffsets(function_.getParent()->getDataLayout(), offset, true);
  for (const Vertex& vertex : vertices_)
    if (vertex.base == from)
      if (const auto piece = field_at(vertex.fields, offset.getSExtValue() - vertex.offset)) return piece;
  // A row of a table: tables have no other pointers.
  auto* table = dyn_cast<LoadInst>(stripped(load.getPointerOperand()));
  const auto rows = table ? piece_of(*table) : std::nullopt;
  return rows && rows->form == kRows ? std::optional(FieldMemory{kVector, rows->bytes}) : std::nullopt;
}

// Beside the pointer stands how many elements, or rows, there are (VectorEdge).
Range Ranges::of_piece(LoadInst& load, const FieldMemory& piece) {
  IRBuilder<> b(load.getParent(), std::next(load.getIterator()));
  Value* const begin = b.CreatePtrToInt(&load, b.getInt64Ty());
  if (piece.form == kElement) return {&load, begin, b.CreateAdd(begin, b.getInt64(piece.bytes))};
  Value* const size =
      b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt8Ty(), load.getPointerOperand(), offsetof(VectorEdge, size)));
  const std::uint64_t each = piece.form == kRows ? sizeof(VectorEdge) : piece.bytes;
  return {&load, begin, b.CreateAdd(begin, b.CreateMul(size, b.getInt64(each)))};
}

Range Ranges::of_root(Value* root) {
  if (auto* load = dyn_cast<LoadInst>(root))
    if (const auto piece = piece_of(*load)) return of_piece(*load, *piece);
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
