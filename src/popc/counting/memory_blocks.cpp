#include "popc/counting/memory_blocks.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>

namespace pando::popc {

namespace {

using namespace llvm;

constexpr std::uint64_t kMostInARow = 8;  // pieces of a known length that need no loop

// One block of memory on its way to loops in front of its call.
class MemoryBlock {
 public:
  explicit MemoryBlock(MemIntrinsic& call) : call_(call), length_(call.getLength()), size_(std::min<std::uint64_t>(8, align_of(call))) {}

  void expand() {
    IRBuilder<> b(&call_);
    if (const auto* move = dyn_cast<MemMoveInst>(&call_); move && move->getRawDest() != move->getRawSource()) {
      Instruction *forwards = nullptr, *backwards = nullptr;
      SplitBlockAndInsertIfThenElse(b.CreateICmpULT(move->getRawDest(), move->getRawSource()), &call_, &forwards, &backwards);
      expand_before(forwards, false);
      expand_before(backwards, true);
    } else {
      expand_before(&call_, false);
    }
    call_.eraseFromParent();
  }

 private:
  static std::uint64_t align_of(const MemIntrinsic& call) {
    Align align = call.getDestAlign().valueOrOne();
    if (const auto* transfer = dyn_cast<MemTransferInst>(&call)) align = std::min(align, transfer->getSourceAlign().valueOrOne());
    return align.value();
  }

  Type* type_of(std::uint64_t bytes) const {
    LLVMContext& c = call_.getContext();
    if (bytes == 8) return FixedVectorType::get(Type::getInt32Ty(c), 2);
    return Type::getIntNTy(c, static_cast<unsigned>(8 * bytes));
  }

  void expand_before(Instruction* place, bool backwards) {
    IRBuilder<> b(place);
    b.SetCurrentDebugLocation(call_.getDebugLoc());
    Type* const type = length_->getType();
    Value* const wide = b.CreateUDiv(length_, ConstantInt::get(type, size_));
    Value* const from = b.CreateMul(wide, ConstantInt::get(type, size_));
    Value* const left = b.CreateSub(length_, from);
    const KnownBits bits = computeKnownBits(length_, call_.getDataLayout());
    const bool leaves_none = bits.countMinTrailingZeros() >= Log2_64(size_);
    const auto rest = [&] {
      if (!leaves_none) loop(place, left, from, 1, backwards);
    };
    if (const auto* known = dyn_cast<ConstantInt>(wide); known && leaves_none && known->getZExtValue() <= kMostInARow) {
      for (std::uint64_t n = known->getZExtValue(), i = 0; i < n; ++i)
        copy_piece(b, ConstantInt::get(type, (backwards ? n - 1 - i : i) * size_), size_);
      return;
    }
    if (backwards) rest();
    loop(place, wide, ConstantInt::get(type, 0), size_, backwards);
    if (!backwards) rest();
  }

  // Pieces of `bytes`, `count` of them, which begin at `from`.
  void loop(Instruction* place, Value* count, Value* from, std::uint64_t bytes, bool backwards) {
    Type* const type = count->getType();
    if (const auto* known = dyn_cast<ConstantInt>(count)) {
      if (known->isZero()) return;
    } else {
      IRBuilder<> b(place);
      place = SplitBlockAndInsertIfThen(b.CreateICmpNE(count, ConstantInt::get(type, 0)), place, false);
    }
    const auto [body, index] = SplitBlockAndInsertSimpleForLoop(count, place);
    IRBuilder<> b(body);
    b.SetCurrentDebugLocation(call_.getDebugLoc());
    Value* const at = backwards ? b.CreateSub(b.CreateSub(count, ConstantInt::get(type, 1)), index) : index;
    copy_piece(b, b.CreateAdd(from, b.CreateMul(at, ConstantInt::get(type, bytes))), bytes);
  }

  void copy_piece(IRBuilder<>& b, Value* offset, std::uint64_t bytes) {
    const auto address = [&](Value* base) { return b.CreateInBoundsGEP(b.getInt8Ty(), base, offset); };
    Type* const type = type_of(bytes);
    Value* value = nullptr;
    if (const auto* fill = dyn_cast<MemSetInst>(&call_))
      value = b.CreateBitCast(b.CreateVectorSplat(static_cast<unsigned>(bytes), fill->getValue()), type);
    else
      value = b.CreateAlignedLoad(type, address(cast<MemTransferInst>(call_).getRawSource()), Align(bytes));
    b.CreateAlignedStore(value, address(call_.getRawDest()), Align(bytes));
  }

  MemIntrinsic& call_;
  Value* const length_;
  const std::uint64_t size_;
};

}  // namespace

bool expand_memory_blocks(Function& function) {
  SmallVector<MemIntrinsic*, 8> calls;
  for (Instruction& i : instructions(function))
    if (auto* call = dyn_cast<MemIntrinsic>(&i); call && !call->isVolatile()) calls.push_back(call);
  for (MemIntrinsic* call : calls) MemoryBlock(*call).expand();
  return !calls.empty();
}

}  // namespace pando::popc
