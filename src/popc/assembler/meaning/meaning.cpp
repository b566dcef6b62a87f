#include "popc/assembler/meaning/meaning.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "codelet/runtime/worker_memory.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

using namespace llvm;

Constant* where_text(IRBuilder<>& b, const AssemblyInstruction& i) {
  return b.CreateGlobalString(prefix(i.place) + i.text, "where", 0, b.GetInsertBlock()->getModule());
}

void Meaning::begin(const AssemblyInstruction& instruction) {
  instruction_ = &instruction;
  condition = nullptr;
}

void Meaning::commit() {
  for (const Write& w : writes_) b.CreateStore(w.value, w.to);
  writes_.clear();
}

Value* Meaning::read(Bank bank, unsigned index) {
  Value* from = bank == Bank::main ? registers_.main[index] : registers_.aux[index];
  return from ? static_cast<Value*>(b.CreateLoad(b.getInt32Ty(), from)) : b.getInt32(0);
}

void Meaning::write(Bank bank, unsigned index, Value* word) {
  if (Value* to = bank == Bank::main ? registers_.main[index] : registers_.aux[index]) writes_.push_back({to, word});
}

Value* Meaning::word(std::size_t i) {
  const AssemblyOperand& o = operand(i);
  if (o.kind == AssemblyOperand::Kind::registers) return read(o.bank, o.first);
  return b.getInt32(static_cast<std::uint32_t>(o.value.number));
}

Value* Meaning::part(std::size_t i, unsigned k) { return read(operand(i).bank, operand(i).first + k); }

Value* Meaning::lanes(std::size_t i, Type* lane) {
  const unsigned count = operand(i).count * 32 / lane->getScalarSizeInBits();
  if (operand(i).count == 1) {
    if (count == 1) return b.CreateBitCast(word(i), lane);
    return b.CreateBitCast(word(i), FixedVectorType::get(lane, count));
  }
  SmallVector<Value*, 4> words;
  for (unsigned k = 0; k < operand(i).count; ++k) words.push_back(part(i, k));
  return b.CreateBitCast(vector_of(words), FixedVectorType::get(lane, count));
}

Value* Meaning::lanes(std::size_t i, Type* lane, unsigned wanted) {
  const std::string& suffix = operand(i).suffix;
  if (suffix == ":B") return splat(b.CreateBitCast(word(i), lane), wanted);
  if (suffix == ":BL" || suffix == ":BU") return splat(this->lane(lanes(i, lane), suffix == ":BU"), wanted);
  return lanes(i, lane);
}

Value* Meaning::as_words(Value* value, unsigned count) {
  const unsigned bits = static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits().getFixedValue());
  if (bits < 32) {
    value = b.CreateBitCast(value, b.getIntNTy(bits));
    value = b.CreateZExt(value, b.getInt32Ty());
  }
  return b.CreateBitCast(value, count == 1 ? b.getInt32Ty() : static_cast<Type*>(FixedVectorType::get(b.getInt32Ty(), count)));
}

void Meaning::set(std::size_t i, Value* value) {
  const AssemblyOperand& o = operand(i);
  Value* words = as_words(value, o.count);
  for (unsigned k = 0; k < o.count; ++k) write(o.bank, o.first + k, o.count == 1 ? words : b.CreateExtractElement(words, k));
}

void Meaning::set_part(std::size_t i, unsigned k, Value* word) { write(operand(i).bank, operand(i).first + k, word); }

Value* Meaning::vector_of(ArrayRef<Value*> lanes) {
  Value* out = PoisonValue::get(FixedVectorType::get(lanes[0]->getType(), static_cast<unsigned>(lanes.size())));
  for (unsigned k = 0; k < lanes.size(); ++k) out = b.CreateInsertElement(out, lanes[k], k);
  return out;
}

Value* Meaning::widened(Value* halves) {
  Type* wide = b.getFloatTy();
  if (const auto* v = dyn_cast<FixedVectorType>(halves->getType())) wide = FixedVectorType::get(wide, v->getNumElements());
  return b.CreateFPExt(halves, wide);
}

Value* Meaning::narrowed(Value* floats) {
  Type* narrow = b.getHalfTy();
  if (const auto* v = dyn_cast<FixedVectorType>(floats->getType())) narrow = FixedVectorType::get(narrow, v->getNumElements());
  return b.CreateFPTrunc(floats, narrow);
}

Value* Meaning::times(Value* value, unsigned bytes) { return bytes == 1 ? value : b.CreateMul(value, b.getInt32(bytes)); }

// The tile's memory; or, by the vertex's and the worker's base, the window with the state and the scratch. All else is looked up, or ends
// the run. One comparison checks the bounds and, rotated, the alignment.
Value* Meaning::place(Value* address, unsigned bytes, bool writes) {
  Function* f = b.GetInsertBlock()->getParent();
  LLVMContext& c = f->getContext();
  const unsigned shift = Log2_32(bytes);
  const bool by_base = std::any_of(instruction_->operands.begin(), instruction_->operands.end(), [](const AssemblyOperand& o) {
    return o.kind == AssemblyOperand::Kind::registers && o.bank == Bank::main && (o.first == 12 || o.first == 13);
  });
  Value* begin = by_base ? b.CreateConstGEP1_64(b.getInt8Ty(), registers_.shared, kWindowOffset) : registers_.tile;
  Value* offset = b.CreateSub(address, b.getInt32(by_base ? kWindowAddress : kTileAddress));
  Value* end = by_base ? static_cast<Value*>(b.getInt32(kWindowBytes - 16)) : registers_.last;
  Value* rotated = offset;
  if (shift > 0) rotated = b.CreateIntrinsic(Intrinsic::fshr, {b.getInt32Ty()}, {offset, offset, b.getInt32(shift)});
  auto *inside = BasicBlock::Create(c, "", f), *elsewhere = BasicBlock::Create(c, "", f), *found = BasicBlock::Create(c, "", f);
  b.CreateCondBr(b.CreateICmpULT(rotated, b.CreateLShr(end, shift)), inside, elsewhere, MDBuilder(c).createBranchWeights(1000, 1));

  b.SetInsertPoint(inside);
  Value* near = b.CreateGEP(b.getInt8Ty(), begin, b.CreateZExt(offset, b.getInt64Ty()));
  b.CreateBr(found);

  b.SetInsertPoint(elsewhere);
  const unsigned access = bytes | (writes ? kAccessWrites : 0);
  Value* image = registers_.image ? static_cast<Value*>(registers_.image) : ConstantPointerNull::get(b.getPtrTy());
  const std::uint64_t image_bytes = registers_.image ? registers_.image->getValueType()->getArrayNumElements() : 0;
  auto* type = FunctionType::get(b.getPtrTy(), {b.getInt32Ty(), b.getInt32Ty(), b.getPtrTy(), b.getPtrTy(), b.getInt32Ty()}, false);
  Value* other =
      b.CreateCall(type, runtime_entry(b, RuntimeEntry::worker_address),
                   {address, b.getInt32(access), where_text(b, *instruction_), image, b.getInt32(static_cast<std::uint32_t>(image_bytes))});
  b.CreateBr(found);

  b.SetInsertPoint(found);
  PHINode* out = b.CreatePHI(b.getPtrTy(), 2);
  out->addIncoming(near, inside);
  out->addIncoming(other, elsewhere);
  return out;
}

Value* Meaning::load(Type* type, Value* address) {
  const auto bytes = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue() / 8);
  return b.CreateAlignedLoad(type, place(address, bytes, false), Align(bytes));
}

void Meaning::store(Value* value, Value* address) {
  const auto bytes = static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits().getFixedValue() / 8);
  b.CreateAlignedStore(value, place(address, bytes, true), Align(bytes));
}

Value* Meaning::accumulator(unsigned n) { return b.CreateLoad(b.getFloatTy(), registers_.accumulators[n]); }
void Meaning::set_accumulator(unsigned n, Value* value) { b.CreateStore(value, registers_.accumulators[n]); }

Value* Meaning::weight_address(Value* index) {
  Value* weights = b.CreateConstGEP1_64(b.getInt8Ty(), registers_.shared, kWeightsOffset);
  return b.CreateGEP(b.getInt64Ty(), weights, index);
}

Value* Meaning::weights(unsigned unit, unsigned column, Type* lane) {
  const unsigned count = 64 / lane->getScalarSizeInBits();
  return b.CreateLoad(FixedVectorType::get(lane, count), weight_address(b.getInt64(4 * unit + column)));
}

}  // namespace pando::popc
