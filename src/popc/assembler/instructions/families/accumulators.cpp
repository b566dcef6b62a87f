// Sums in accumulators: of elements, magnitudes, squares, products; scaled sums; reading and shifting them.
#include <llvm/IR/Intrinsics.h>

#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr unsigned kTas = 136;

using Term = Value* (*)(IRBuilder<>&, Value*);

Value* plain_term(IRBuilder<>&, Value* x) { return x; }
Value* absolute_term(IRBuilder<>& b, Value* x) { return b.CreateUnaryIntrinsic(Intrinsic::fabs, x); }
Value* squared_term(IRBuilder<>& b, Value* x) { return b.CreateFMul(x, x); }

void add_to(Meaning& m, unsigned n, Value* term) { m.set_accumulator(n, m.b.CreateFAdd(m.accumulator(n), term)); }

// Lanes of a group as floats.
Value* floats(Meaning& m, std::size_t i, bool is_half) {
  return is_half ? m.widened(m.lanes(i, m.b.getHalfTy())) : m.lanes(i, m.b.getFloatTy());
}
unsigned lanes_of(Value* x) { return cast<FixedVectorType>(x->getType())->getNumElements(); }

void add_sums(std::vector<InstructionRow>& rows) {
  struct Shape {
    const char *name, *form;
    bool is_half;
  };
  const std::tuple<const char*, const char*, Term> kTerms[] = {{"acc", "adds each lane to an accumulator", plain_term},
                                                               {"absacc", "adds magnitudes to accumulators", absolute_term},
                                                               {"sqacc", "adds squares to accumulators", squared_term}};
  for (const Shape s :
       {Shape{"f32v2", "aa", false}, Shape{"f32v4", "aaaa", false}, Shape{"f16v4", "aa", true}, Shape{"f16v8", "aaaa", true}})
    for (const auto& [name, meaning, term] : kTerms) {
      const Term of = term;
      const bool is_half = s.is_half;
      rows.push_back({s.name + std::string(name), IssuePipe::aux, s.form, meaning, [=](Meaning& m) {
                        Value* x = of(m.b, floats(m, 0, is_half));
                        for (unsigned k = 0; k < lanes_of(x); ++k) add_to(m, 2 * k, m.lane(x, k));
                      }});
    }
}

// d = the head of the line of accumulators; the line moves on; s goes to its end.
void shift_line(Meaning& m, Value* in, unsigned odd, Value*& first, Value*& second) {
  first = m.accumulator(odd);
  second = m.accumulator(2 + odd);
  for (unsigned k = odd; k <= 10 + odd; k += 2) m.set_accumulator(k, m.accumulator(k + 4));
  m.set_accumulator(12 + odd, m.lane(in, 0));
  m.set_accumulator(14 + odd, m.lane(in, 1));
}

}  // namespace

std::vector<InstructionRow> instructions_accumulators() {
  std::vector<InstructionRow> rows;
  const auto add = [&](const char* name, const char* form, const char* meaning, std::function<void(Meaning&)> emit) {
    rows.push_back({name, IssuePipe::aux, form, meaning, std::move(emit)});
  };
  add_sums(rows);
  add("f32mac", "a,a", "adds the product to accumulator 0", [](Meaning& m) { add_to(m, 0, m.b.CreateFMul(m.f32(0), m.f32(1))); });
  add("f32v2mac", "aa,aa", "adds products of lanes to accumulators 0 and 2", [](Meaning& m) {
    Value* products = m.b.CreateFMul(floats(m, 0, false), floats(m, 1, false));
    for (unsigned k = 0; k < 2; ++k) add_to(m, 2 * k, m.lane(products, k));
  });
  add("f16v2cmac", "a,a", "adds both products of lanes to accumulator 0", [](Meaning& m) {
    Value* p = m.b.CreateFMul(floats(m, 0, true), floats(m, 1, true));
    add_to(m, 0, m.b.CreateFAdd(m.lane(p, 0), m.lane(p, 1)));
  });
  add("f16v4cmac", "aa,aa", "adds products of the lower two lanes to accumulator 0, of the upper two to 2", [](Meaning& m) {
    Value* p = m.b.CreateFMul(floats(m, 0, true), floats(m, 1, true));
    add_to(m, 0, m.b.CreateFAdd(m.lane(p, 0), m.lane(p, 1)));
    add_to(m, 2, m.b.CreateFAdd(m.lane(p, 2), m.lane(p, 3)));
  });
  add("f32v2aop", "aa,aa,z12", "adds the outer product to accumulators 0, 2, 4, 6", [](Meaning& m) {
    Value *x = floats(m, 0, false), *y = floats(m, 1, false);
    for (unsigned k = 0; k < 4; ++k) add_to(m, 2 * k, m.b.CreateFMul(m.lane(x, k % 2), m.lane(y, k / 2)));
  });
  add("f32v2axpy", "=aa,aa,aa", "accumulators 0 and 2 become $TAS x + y; gives what they were", [](Meaning& m) {
    m.set(0, m.vector_of({m.accumulator(0), m.accumulator(2)}));
    Value* scale = m.b.CreateBitCast(m.control(kTas), m.b.getFloatTy());
    Value* sums = m.b.CreateFAdd(m.b.CreateFMul(m.splat(scale, 2), floats(m, 1, false)), floats(m, 2, false));
    for (unsigned k = 0; k < 2; ++k) m.set_accumulator(2 * k, m.lane(sums, k));
  });
  add("f16v4mix", "=aa,aa,aa", "accumulators 0, 2, 4, 6 become a scaled sum, by the halves of $TAS; gives what they were", [](Meaning& m) {
    m.set(0, m.narrowed(m.vector_of({m.accumulator(0), m.accumulator(2), m.accumulator(4), m.accumulator(6)})));
    Value* scales = m.widened(m.b.CreateBitCast(m.control(kTas), FixedVectorType::get(m.b.getHalfTy(), 2)));
    Value* x = m.b.CreateFMul(m.splat(m.lane(scales, 0), 4), floats(m, 1, true));
    Value* y = m.b.CreateFMul(m.splat(m.lane(scales, 1), 4), floats(m, 2, true));
    Value* sums = m.b.CreateFAdd(x, y);
    for (unsigned k = 0; k < 4; ++k) m.set_accumulator(2 * k, m.lane(sums, k));
  });
  add("f32v2gina", "=aa,aa,z12", "gives the first pair of accumulators (even with 0, odd with 1); the others move up, a pair comes in",
      [](Meaning& m) {
        Value *first = nullptr, *second = nullptr;
        shift_line(m, floats(m, 1, false), static_cast<unsigned>(m.number(2)) & 1, first, second);
        m.set(0, m.vector_of({first, second}));
      });
  add("f16v2gina", "=a,a,z12", "as f32v2gina; halves go out and come in", [](Meaning& m) {
    Value *first = nullptr, *second = nullptr;
    shift_line(m, floats(m, 1, true), static_cast<unsigned>(m.number(2)) & 1, first, second);
    m.set(0, m.narrowed(m.vector_of({first, second})));
  });
  add("f16v4gacc", "=aa", "accumulators 0, 2, 4, 6 as halves",
      [](Meaning& m) { m.set(0, m.narrowed(m.vector_of({m.accumulator(0), m.accumulator(2), m.accumulator(4), m.accumulator(6)}))); });
  return rows;
}

}  // namespace pando::popc
