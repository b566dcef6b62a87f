// Random bits and numbers.
#include <llvm/IR/Intrinsics.h>

#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

// Box and Muller: two numbers of a normal distribution from 64 bits.
Value* normal_pair(Meaning& m) {
  IRBuilder<>& b = m.b;
  Value* bits = m.random64();
  const auto uniform = [&](Value* word) {
    Value* x = b.CreateUIToFP(b.CreateLShr(word, 8), b.getFloatTy());
    return b.CreateFMul(b.CreateFAdd(x, ConstantFP::get(b.getFloatTy(), 0.5)), ConstantFP::get(b.getFloatTy(), 0x1p-24));
  };
  Value* u = uniform(b.CreateTrunc(bits, b.getInt32Ty()));
  Value* v = uniform(b.CreateTrunc(b.CreateLShr(bits, 32), b.getInt32Ty()));
  Value* radius =
      b.CreateUnaryIntrinsic(Intrinsic::sqrt, b.CreateFMul(ConstantFP::get(b.getFloatTy(), -2), b.CreateUnaryIntrinsic(Intrinsic::log, u)));
  Value* angle = b.CreateFMul(v, ConstantFP::get(b.getFloatTy(), 6.283185307179586));
  return m.vector_of({b.CreateFMul(radius, b.CreateUnaryIntrinsic(Intrinsic::cos, angle)),
                      b.CreateFMul(radius, b.CreateUnaryIntrinsic(Intrinsic::sin, angle))});
}

// Keeps each lane with probability p / 65536, by 16 random bits of its own.
void keep_some(Meaning& m, Type* lane, unsigned lanes) {
  IRBuilder<>& b = m.b;
  Value* bits =
      b.CreateZExt(b.CreateBitCast(m.random64(), FixedVectorType::get(b.getInt16Ty(), 4)), FixedVectorType::get(b.getInt32Ty(), 4));
  Value* p = b.CreateAnd(m.word(2), 0x1ffff);
  Value* keeps = b.CreateICmpULT(bits, m.splat(p, 4));
  if (lanes == 2) keeps = b.CreateShuffleVector(keeps, ArrayRef<int>{0, 1});
  Value* x = m.lanes(1, b.getIntNTy(lane->getScalarSizeInBits()));
  m.set(0, b.CreateSelect(keeps, x, Constant::getNullValue(x->getType())));
}

}  // namespace

std::vector<InstructionRow> instructions_random() {
  std::vector<InstructionRow> rows;
  const auto add = [&](const char* name, const char* form, const char* meaning, std::function<void(Meaning&)> emit) {
    rows.push_back({name, IssuePipe::aux, form, meaning, std::move(emit)});
  };
  add("urand32", "=a", "32 random bits", [](Meaning& m) { m.set(0, m.b.CreateTrunc(m.b.CreateLShr(m.random64(), 32), m.b.getInt32Ty())); });
  add("urand64", "=aa", "64 random bits", [](Meaning& m) { m.set(0, m.random64()); });
  add("f32v2grand", "=aa", "two numbers of a normal distribution", [](Meaning& m) { m.set(0, normal_pair(m)); });
  add("f16v2grand", "=a", "two numbers of a normal distribution", [](Meaning& m) { m.set(0, m.narrowed(normal_pair(m))); });
  add("f16v4rmask", "=aa,aa,a", "keeps each lane with the probability p / 65536", [](Meaning& m) { keep_some(m, m.b.getHalfTy(), 4); });
  add("f32v2rmask", "=aa,aa,a", "keeps each lane with the probability p / 65536", [](Meaning& m) { keep_some(m, m.b.getFloatTy(), 2); });
  return rows;
}

}  // namespace pando::popc
