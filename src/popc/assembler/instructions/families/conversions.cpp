// Between floats, halves and integers.
#include <llvm/IR/Intrinsics.h>

#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

// 0: to even, 1: up, 2: down, 3: toward zero.
Value* rounded(Meaning& m) {
  constexpr Intrinsic::ID kModes[] = {Intrinsic::roundeven, Intrinsic::ceil, Intrinsic::floor, Intrinsic::trunc};
  const auto mode = static_cast<std::uint64_t>(m.number(2));
  return m.b.CreateUnaryIntrinsic(kModes[mode & 3], m.f32(1));
}

// An unsigned number as one between -1/2 and 1/2, never 0.
Value* centred(IRBuilder<>& b, Value* x, unsigned bits) {
  Value* wide = b.CreateUIToFP(x, b.getDoubleTy());
  const double unit = 1.0 / static_cast<double>(std::uint64_t{1} << bits);
  return b.CreateFMul(b.CreateFSub(b.CreateFAdd(wide, ConstantFP::get(b.getDoubleTy(), 0.5)), ConstantFP::get(b.getDoubleTy(), 0.5 / unit)),
                      ConstantFP::get(b.getDoubleTy(), unit));
}

void set_centred(Meaning& m, unsigned lane_bits) {
  Value* x = m.lanes(1, m.b.getIntNTy(lane_bits));
  Type* to = lane_bits == 16 ? m.b.getHalfTy() : m.b.getFloatTy();
  if (!x->getType()->isVectorTy()) return m.set(0, m.b.CreateFPTrunc(centred(m.b, x, lane_bits), to));
  SmallVector<Value*, 4> lanes;
  for (unsigned k = 0; k < cast<FixedVectorType>(x->getType())->getNumElements(); ++k)
    lanes.push_back(m.b.CreateFPTrunc(centred(m.b, m.lane(x, k), lane_bits), to));
  m.set(0, m.vector_of(lanes));
}

}  // namespace

std::vector<InstructionRow> instructions_conversions() {
  std::vector<InstructionRow> rows;
  const auto add = [&](const char* name, const char* forms, const char* meaning, std::function<void(Meaning&)> emit) {
    rows.push_back({name, IssuePipe::aux, forms, meaning, std::move(emit)});
  };
  add("f16tof32", "=a,a", "lower half as a float", [](Meaning& m) { m.set(0, m.widened(m.low_half(1))); });
  add("f32tof16", "=a,a", "as a half, in both halves", [](Meaning& m) { m.set(0, m.splat(m.narrowed(m.f32(1)), 2)); });
  add("f16v2tof32", "=aa,a", "two halves as floats", [](Meaning& m) { m.set(0, m.widened(m.lanes(1, m.b.getHalfTy()))); });
  add("f32v2tof16", "=a,aa", "two floats as halves", [](Meaning& m) { m.set(0, m.narrowed(m.lanes(1, m.b.getFloatTy()))); });
  add("f32v4tof16", "=aa,aaaa", "four floats as halves", [](Meaning& m) { m.set(0, m.narrowed(m.lanes(1, m.b.getFloatTy()))); });
  add("f32fromi32", "=a,a", "signed integer as a float", [](Meaning& m) { m.set(0, m.b.CreateSIToFP(m.word(1), m.b.getFloatTy())); });
  add("f32fromui32", "=a,a", "unsigned integer as a float", [](Meaning& m) { m.set(0, m.b.CreateUIToFP(m.word(1), m.b.getFloatTy())); });
  add("f32toi32", "=a,a", "as a signed integer, toward zero; the nearest there is",
      [](Meaning& m) { m.set(0, m.b.CreateIntrinsic(Intrinsic::fptosi_sat, {m.b.getInt32Ty(), m.b.getFloatTy()}, {m.f32(1)})); });
  add("f32toui32", "=a,a", "as an unsigned integer, toward zero; the nearest there is",
      [](Meaning& m) { m.set(0, m.b.CreateIntrinsic(Intrinsic::fptoui_sat, {m.b.getInt32Ty(), m.b.getFloatTy()}, {m.f32(1)})); });
  add("f32int", "=a,a,z3", "integral: 0 to even, 1 up, 2 down, 3 toward zero", [](Meaning& m) { m.set(0, rounded(m)); });
  add("f32sufromui", "=a,a", "32 bits as a float between -1/2 and 1/2", [](Meaning& m) { set_centred(m, 32); });
  add("f32v2sufromui", "=aa,aa", "32 bits as a float between -1/2 and 1/2", [](Meaning& m) { set_centred(m, 32); });
  add("f16v2sufromui", "=a,a", "16 bits as a half between -1/2 and 1/2", [](Meaning& m) { set_centred(m, 16); });
  add("f16v4sufromui", "=aa,aa", "16 bits as a half between -1/2 and 1/2", [](Meaning& m) { set_centred(m, 16); });
  return rows;
}

}  // namespace pando::popc
