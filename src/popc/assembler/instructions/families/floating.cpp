// Arithmetic, comparisons and limits of floats and halves, one lane or several.
#include <llvm/IR/Intrinsics.h>

#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

// A shape of operands: f32, f32v2, f16v2, f16v4.
struct Shape {
  const char* name;
  const char* group;  // of registers
  const char* forms;  // of two operands
  unsigned lanes;
  bool is_half;
};
constexpr Shape kShapes[] = {{"f32", "a", "=a,a,a", 1, false},
                             {"f32v2", "aa", "=aa,aa,aa|=aa,a:B,aa", 2, false},
                             {"f16v2", "a", "=a,a,a|=a,a:BL,a|=a,a:BU,a", 2, true},
                             {"f16v4", "aa", "=aa,aa,aa|=aa,a:BL,aa|=aa,a:BU,aa", 4, true}};

Type* lane_of(Meaning& m, const Shape& s) { return s.is_half ? m.b.getHalfTy() : m.b.getFloatTy(); }
Value* operand(Meaning& m, const Shape& s, std::size_t i) { return m.lanes(i, lane_of(m, s), s.lanes); }
Value* magnitude(IRBuilder<>& b, Value* x) { return b.CreateUnaryIntrinsic(Intrinsic::fabs, x); }

using Operation = std::function<Value*(IRBuilder<>&, Value*, Value*)>;

void add_binary(std::vector<InstructionRow>& rows, const char* name, const char* meaning, const Operation& of) {
  for (const Shape& s : kShapes)
    rows.push_back({s.name + std::string(name), IssuePipe::aux, s.forms, meaning,
                    [=](Meaning& m) { m.set(0, of(m.b, operand(m, s, 1), operand(m, s, 2))); }});
}

void add_comparison(std::vector<InstructionRow>& rows, const char* name, const char* meaning, CmpInst::Predicate predicate) {
  for (const Shape& s : kShapes)
    rows.push_back({s.name + std::string("cmp") + name, IssuePipe::aux, s.forms, meaning, [=](Meaning& m) {
                      Value* holds = m.b.CreateFCmp(predicate, operand(m, s, 1), operand(m, s, 2));
                      Type* mask = m.b.getIntNTy(s.is_half ? 16 : 32);
                      if (s.lanes > 1) mask = FixedVectorType::get(mask, s.lanes);
                      m.set(0, m.b.CreateSExt(holds, mask));
                    }});
}

void add_clamps(std::vector<InstructionRow>& rows) {
  const char* const kForms[] = {"=a,a,aa", "=aa,aa,aa", "=a,a,a", "=aa,aa,a"};
  for (unsigned i = 0; i < 4; ++i) {
    const Shape s = kShapes[i];
    rows.push_back({s.name + std::string("clamp"), IssuePipe::aux, kForms[i],
                    "limited to the range whose ends are the lanes of the last operand", [=](Meaning& m) {
                      Value* range = m.lanes(2, lane_of(m, s));
                      Value *least = m.lane(range, 0), *most = m.lane(range, 1), *x = operand(m, s, 1);
                      if (s.lanes > 1) least = m.splat(least, s.lanes), most = m.splat(most, s.lanes);
                      m.set(0, m.b.CreateMinNum(m.b.CreateMaxNum(x, least), most));
                    }});
  }
}

// Codes of numbers: only those of NaNs are published, and 0.
Value* class_of(IRBuilder<>& b, Value* x) {
  Type* bits = IntegerType::get(b.getContext(), x->getType()->getScalarSizeInBits());
  auto* v = dyn_cast<FixedVectorType>(x->getType());
  if (v) bits = FixedVectorType::get(bits, v->getNumElements());
  Value* raw = b.CreateBitCast(x, bits);
  const unsigned quiet = x->getType()->getScalarType()->isHalfTy() ? 9 : 22;
  Value* is_quiet = b.CreateICmpNE(b.CreateAnd(raw, ConstantInt::get(bits, std::uint64_t{1} << quiet)), ConstantInt::get(bits, 0));
  Type* byte = b.getInt8Ty();
  if (v) byte = FixedVectorType::get(byte, v->getNumElements());
  return b.CreateSelect(b.CreateFCmpUNO(x, x), b.CreateSelect(is_quiet, ConstantInt::get(byte, 2), ConstantInt::get(byte, 1)),
                        ConstantInt::get(byte, 0));
}

}  // namespace

std::vector<InstructionRow> instructions_floating() {
  std::vector<InstructionRow> rows;
  add_binary(rows, "add", "sum", [](auto& b, Value* x, Value* y) { return b.CreateFAdd(x, y); });
  add_binary(rows, "sub", "difference", [](auto& b, Value* x, Value* y) { return b.CreateFSub(x, y); });
  add_binary(rows, "mul", "product", [](auto& b, Value* x, Value* y) { return b.CreateFMul(x, y); });
  add_binary(rows, "max", "greater; a number if the other is none", [](auto& b, Value* x, Value* y) { return b.CreateMaxNum(x, y); });
  add_binary(rows, "min", "less; a number if the other is none", [](auto& b, Value* x, Value* y) { return b.CreateMinNum(x, y); });
  add_binary(rows, "absadd", "sum of magnitudes",
             [](auto& b, Value* x, Value* y) { return b.CreateFAdd(magnitude(b, x), magnitude(b, y)); });
  add_binary(rows, "absmax", "greater of the magnitudes",
             [](auto& b, Value* x, Value* y) { return b.CreateMaxNum(magnitude(b, x), magnitude(b, y)); });
  add_comparison(rows, "eq", "all ones if equal, else 0", CmpInst::FCMP_OEQ);
  add_comparison(rows, "ne", "all ones if different, else 0", CmpInst::FCMP_UNE);
  add_comparison(rows, "lt", "all ones if less, else 0", CmpInst::FCMP_OLT);
  add_comparison(rows, "le", "all ones if less or equal, else 0", CmpInst::FCMP_OLE);
  add_comparison(rows, "gt", "all ones if greater, else 0", CmpInst::FCMP_OGT);
  add_comparison(rows, "ge", "all ones if greater or equal, else 0", CmpInst::FCMP_OGE);
  add_clamps(rows);
  for (const Shape& s : kShapes)
    rows.push_back({s.name + std::string("class"), IssuePipe::aux, s.lanes * (s.is_half ? 16 : 32) > 32 ? "=a,aa" : "=a,a",
                    "class of each lane in a byte: 1 signalling NaN, 2 quiet NaN, 0 all else",
                    [=](Meaning& m) { m.set(0, class_of(m.b, operand(m, s, 1))); }});
  rows.push_back({"f32div", IssuePipe::aux, "=a,a,a", "quotient", [](Meaning& m) { m.set(0, m.b.CreateFDiv(m.f32(1), m.f32(2))); }});
  rows.push_back({"f16v2sum", IssuePipe::aux, "=a,a", "sum of both lanes, as a float", [](Meaning& m) {
                    Value* x = m.widened(m.lanes(1, m.b.getHalfTy()));
                    m.set(0, m.b.CreateFAdd(m.lane(x, 0), m.lane(x, 1)));
                  }});
  rows.push_back({"f16v4sum", IssuePipe::aux, "=aa,aa", "sums of the lower and the upper two lanes, as floats", [](Meaning& m) {
                    Value* x = m.widened(m.lanes(1, m.b.getHalfTy()));
                    m.set(0, m.vector_of({m.b.CreateFAdd(m.lane(x, 0), m.lane(x, 1)), m.b.CreateFAdd(m.lane(x, 2), m.lane(x, 3))}));
                  }});
  rows.push_back({"f16v2maxc", IssuePipe::aux, "=a,a", "greater of both lanes, in the lower half", [](Meaning& m) {
                    Value* x = m.lanes(1, m.b.getHalfTy());
                    m.set(0, m.b.CreateMaxNum(m.lane(x, 0), m.lane(x, 1)));
                  }});
  rows.push_back({"f16v4maxc", IssuePipe::aux, "=a,aa", "greater of the lower and of the upper two lanes", [](Meaning& m) {
                    Value* x = m.lanes(1, m.b.getHalfTy());
                    m.set(0, m.vector_of({m.b.CreateMaxNum(m.lane(x, 0), m.lane(x, 1)), m.b.CreateMaxNum(m.lane(x, 2), m.lane(x, 3))}));
                  }});
  return rows;
}

}  // namespace pando::popc
