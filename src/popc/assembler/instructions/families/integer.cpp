// Integers of 32 bits, and bits of registers of either file.
#include <llvm/IR/Intrinsics.h>

#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

using Binary = std::function<Value*(IRBuilder<>&, Value*, Value*)>;

Value* flag(IRBuilder<>& b, Value* condition) { return b.CreateZExt(condition, b.getInt32Ty()); }

}  // namespace

std::vector<InstructionRow> instructions_integer() {
  std::vector<InstructionRow> rows;
  const auto add = [&](const char* name, const char* forms, const char* meaning, Binary of, IssuePipe pipe = IssuePipe::main) {
    rows.push_back({name, pipe, forms, meaning, [of](Meaning& m) { m.set(0, of(m.b, m.word(1), m.word(2))); }});
  };
  constexpr const char *kWide = "=m,m,m|=m,m,i16", *kThree = "=m,m,m", *kShift = "=m,m,m|=m,m,z12";
  for (const char* name : {"add", "adds", "addz"})
    add(name, kWide, "sum, 32 bits", [](auto& b, Value* x, Value* y) { return b.CreateAdd(x, y); });
  for (const char* name : {"sub", "subs", "subz"})
    add(name, "=m,m,m|=m,m,i16|=m,i16,m", "difference, 32 bits", [](auto& b, Value* x, Value* y) { return b.CreateSub(x, y); });
  add("mul", "=m,m,m|=m,m,s16", "product, lower 32 bits", [](auto& b, Value* x, Value* y) { return b.CreateMul(x, y); });
  for (const char* name : {"cmpeq", "cmpeqs", "cmpeqz"})
    add(name, kWide, "1 if equal, else 0", [](auto& b, Value* x, Value* y) { return flag(b, b.CreateICmpEQ(x, y)); });
  add("cmpne", kThree, "1 if different, else 0", [](auto& b, Value* x, Value* y) { return flag(b, b.CreateICmpNE(x, y)); });
  add("cmpslt", "=m,m,m|=m,m,s16", "1 if less, signed, else 0", [](auto& b, Value* x, Value* y) { return flag(b, b.CreateICmpSLT(x, y)); });
  add("cmpult", "=m,m,m|=m,m,z16", "1 if less, unsigned, else 0",
      [](auto& b, Value* x, Value* y) { return flag(b, b.CreateICmpULT(x, y)); });
  for (const char* name : {"max", "maxs", "maxz"})
    add(name, kWide, "greater, signed", [](auto& b, Value* x, Value* y) { return b.CreateSelect(b.CreateICmpSGT(x, y), x, y); });
  for (const char* name : {"min", "mins", "minz"})
    add(name, kWide, "less, signed", [](auto& b, Value* x, Value* y) { return b.CreateSelect(b.CreateICmpSLT(x, y), x, y); });
  // Counts of 32 and more are not published: all bits leave.
  const auto shift = [](IRBuilder<>& b, Value* count, Value* shifted, Value* all) {
    return b.CreateSelect(b.CreateICmpULT(count, b.getInt32(32)), shifted, all);
  };
  const auto masked = [](IRBuilder<>& b, Value* count) { return b.CreateAnd(count, 31); };
  add("shl", kShift, "left shift", [=](auto& b, Value* x, Value* n) { return shift(b, n, b.CreateShl(x, masked(b, n)), b.getInt32(0)); });
  add("shr", kShift, "right shift, zeros come in",
      [=](auto& b, Value* x, Value* n) { return shift(b, n, b.CreateLShr(x, masked(b, n)), b.getInt32(0)); });
  add("shrs", kShift, "right shift, the sign comes in",
      [=](auto& b, Value* x, Value* n) { return shift(b, n, b.CreateAShr(x, masked(b, n)), b.CreateAShr(x, 31)); });
  add("xor", kThree, "bitwise exclusive or", [](auto& b, Value* x, Value* y) { return b.CreateXor(x, y); });
  add("xnor", kThree, "inverse of bitwise exclusive or", [](auto& b, Value* x, Value* y) { return b.CreateNot(b.CreateXor(x, y)); });
  const auto unary = [&](const char* name, const char* meaning, std::function<Value*(IRBuilder<>&, Value*)> of) {
    rows.push_back({name, IssuePipe::main, "=m,m", meaning, [of](Meaning& m) { m.set(0, of(m.b, m.word(1))); }});
  };
  unary("abs", "magnitude; of the least number itself",
        [](IRBuilder<>& b, Value* x) { return b.CreateIntrinsic(Intrinsic::abs, {b.getInt32Ty()}, {x, b.getFalse()}); });
  unary("clz", "leading zeros, 0 to 32",
        [](IRBuilder<>& b, Value* x) { return b.CreateIntrinsic(Intrinsic::ctlz, {b.getInt32Ty()}, {x, b.getFalse()}); });
  unary("cms", "bits below the highest that equal it", [](IRBuilder<>& b, Value* x) {
    Value* differs = b.CreateXor(x, b.CreateAShr(x, 31));
    return b.CreateSub(b.CreateIntrinsic(Intrinsic::ctlz, {b.getInt32Ty()}, {differs, b.getFalse()}), b.getInt32(1));
  });
  unary("popc", "number of ones", [](IRBuilder<>& b, Value* x) { return b.CreateUnaryIntrinsic(Intrinsic::ctpop, x); });
  unary("bitrev8", "bits of each byte in reverse order", [](IRBuilder<>& b, Value* x) {
    return b.CreateUnaryIntrinsic(Intrinsic::bswap, b.CreateUnaryIntrinsic(Intrinsic::bitreverse, x));
  });
  const auto conditional = [&](const char* name, const char* meaning, bool moves_if_zero) {
    rows.push_back({name, IssuePipe::main, "+m,m,m", meaning, [=](Meaning& m) {
                      Value* is_zero = m.b.CreateICmpEQ(m.word(1), m.b.getInt32(0));
                      m.set(0, m.b.CreateSelect(is_zero, m.word(moves_if_zero ? 2 : 0), m.word(moves_if_zero ? 0 : 2)));
                    }});
  };
  conditional("movz", "copies the third operand if the second is 0", true);
  conditional("movnz", "copies the third operand if the second is not 0", false);
  return rows;
}

}  // namespace pando::popc
