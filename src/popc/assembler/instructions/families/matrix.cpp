// Products with the common compute weights: matrix by vector (amp), and convolution along a row (slic).
//
// A set of accumulators has sixteen: the even ones hold sums, the odd ones a line of pairs that partial sums enter at the tail and finished
// sums leave at the head. Two-set forms use sixteen more, and the weights of eight more units.
#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr unsigned kSet = 16, kUnitsOfSet = 8;

// Flags: pairs of engines and phase (include/arch/gc_tile_defines.h).
struct AmpFlags {
  unsigned pairs, phase;
};
AmpFlags amp_flags(Meaning& m, std::size_t i) {
  const auto n = static_cast<unsigned>(m.number(i));
  return {n >> 4 & 7, n & 15};
}

Value* dot(Meaning& m, Value* x, Value* w) {
  Value* p = m.b.CreateFMul(x, w);
  return m.b.CreateFAdd(m.b.CreateFAdd(m.lane(p, 0), m.lane(p, 1)), m.b.CreateFAdd(m.lane(p, 2), m.lane(p, 3)));
}

void exchange(Meaning& m, unsigned set, unsigned pairs) {
  for (unsigned k = 0; k < 2 * pairs; ++k) {
    Value *even = m.accumulator(set + 2 * k), *odd = m.accumulator(set + 2 * k + 1);
    m.set_accumulator(set + 2 * k, odd);
    m.set_accumulator(set + 2 * k + 1, even);
  }
}

// The head of the line; the line moves, a pair enters at its tail.
std::pair<Value*, Value*> shift(Meaning& m, unsigned set, unsigned pairs, Value* first, Value* second) {
  const std::pair<Value*, Value*> head = {m.accumulator(set + 1), m.accumulator(set + 3)};
  for (unsigned slot = 0; slot + 1 < pairs; ++slot) {
    m.set_accumulator(set + 4 * slot + 1, m.accumulator(set + 4 * slot + 5));
    m.set_accumulator(set + 4 * slot + 3, m.accumulator(set + 4 * slot + 7));
  }
  m.set_accumulator(set + 4 * pairs - 3, first);
  m.set_accumulator(set + 4 * pairs - 1, second);
  return head;
}

void accumulate_halves(Meaning& m, unsigned set, AmpFlags f, Value* x) {
  const unsigned unit = set / kSet * kUnitsOfSet;
  for (unsigned k = 0; k < 2 * f.pairs; ++k) {
    Value* w = m.widened(m.weights(unit + k, f.phase & 3, m.b.getHalfTy()));
    m.set_accumulator(set + 2 * k, m.b.CreateFAdd(m.accumulator(set + 2 * k), dot(m, x, w)));
  }
}

void accumulate_float(Meaning& m, unsigned set, AmpFlags f, Value* x) {
  const unsigned unit = set / kSet * kUnitsOfSet;
  for (unsigned k = 0; k < 2 * f.pairs; ++k) {
    Value* w = m.lane(m.weights(unit + k, f.phase >> 1 & 3, m.b.getFloatTy()), f.phase & 1);
    m.set_accumulator(set + 2 * k, m.b.CreateFAdd(m.accumulator(set + 2 * k), m.b.CreateFMul(x, w)));
  }
}

Value* partials(Meaning& m, std::size_t i, bool are_halves) {
  return are_halves ? m.widened(m.lanes(i, m.b.getHalfTy())) : m.lanes(i, m.b.getFloatTy());
}

void amp_halves(Meaning& m, bool takes_halves, bool gives_halves, unsigned sets) {
  const AmpFlags f = amp_flags(m, 3);
  Value *x = m.widened(m.lanes(1, m.b.getHalfTy())), *in = partials(m, 2, takes_halves);
  SmallVector<Value*, 4> out;
  for (unsigned s = 0; s < sets; ++s) {
    if (f.phase == 0) exchange(m, s * kSet, f.pairs);
    const auto [first, second] = shift(m, s * kSet, f.pairs, m.lane(in, 2 * s), m.lane(in, 2 * s + 1));
    out.append({first, second});
    accumulate_halves(m, s * kSet, f, x);
  }
  Value* sums = m.vector_of(out);
  m.set(0, gives_halves ? m.narrowed(sums) : sums);
}

// Pairs come and go in even phases; of the second set in odd ones.
void amp_float(Meaning& m, unsigned sets) {
  const AmpFlags f = amp_flags(m, 3);
  Value *x = m.f32(1), *in = m.lanes(2, m.b.getFloatTy());
  for (unsigned s = 0; s < sets; ++s) {
    if (f.phase == 0) exchange(m, s * kSet, f.pairs);
    if (f.phase % 2 == s) {
      const auto [first, second] = shift(m, s * kSet, f.pairs, m.lane(in, 0), m.lane(in, 1));
      m.set(0, m.vector_of({first, second}));
    }
    accumulate_float(m, s * kSet, f, x);
  }
}

void slic_halves(Meaning& m, bool takes_halves, bool gives_halves, unsigned sets) {
  const auto flags = static_cast<unsigned>(m.number(3));
  const unsigned column = flags & 3, stages = flags & 4 ? 3 : 4;
  Value *x = m.widened(m.lanes(1, m.b.getHalfTy())), *in = partials(m, 2, takes_halves);
  SmallVector<Value*, 4> out;
  for (unsigned s = 0; s < sets; ++s) {
    const unsigned set = s * kSet, unit = s * kUnitsOfSet;
    out.append({m.accumulator(set), m.accumulator(set + 2)});
    for (unsigned stage = 0; stage < stages; ++stage)
      for (unsigned c = 0; c < 2; ++c) {
        Value* before = stage + 1 < stages ? m.accumulator(set + 4 * (stage + 1) + 2 * c) : m.lane(in, 2 * s + c);
        Value* w = m.widened(m.weights(unit + 2 * stage + c, column, m.b.getHalfTy()));
        m.set_accumulator(set + 4 * stage + 2 * c, m.b.CreateFAdd(before, dot(m, x, w)));
      }
  }
  Value* sums = m.vector_of(out);
  m.set(0, gives_halves ? m.narrowed(sums) : sums);
}

}  // namespace

std::vector<InstructionRow> instructions_matrix() {
  std::vector<InstructionRow> rows;
  const auto add = [&](const char* name, const char* form, const char* meaning, std::function<void(Meaning&)> emit) {
    rows.push_back({name, IssuePipe::aux, form, meaning, std::move(emit)});
  };
  constexpr const char *kAmp = "a step of a matrix product with the weights",
                       *kSlic = "a step of a convolution of four taps with the weights";
  add("f16v4sisoamp", "=aa,aa,aa,z8", kAmp, [](Meaning& m) { amp_halves(m, false, false, 1); });
  add("f16v4hihoamp", "=a,aa,a,z8", kAmp, [](Meaning& m) { amp_halves(m, true, true, 1); });
  add("f16v4sihoamp", "=a,aa,aa,z8", kAmp, [](Meaning& m) { amp_halves(m, false, true, 1); });
  add("f16v4hihov4amp", "=aa,aa,aa,z8", kAmp, [](Meaning& m) { amp_halves(m, true, true, 2); });
  add("f32sisoamp", "=aa,a,aa,z8", kAmp, [](Meaning& m) { amp_float(m, 1); });
  add("f32sisov2amp", "=aa,a,aa,z8", kAmp, [](Meaning& m) { amp_float(m, 2); });
  add("f16v4sisoslic", "=aa,aa,aa,z8", kSlic, [](Meaning& m) { slic_halves(m, false, false, 1); });
  add("f16v4hihoslic", "=a,aa,a,z8", kSlic, [](Meaning& m) { slic_halves(m, true, true, 1); });
  add("f16v4sihoslic", "=a,aa,aa,z8", kSlic, [](Meaning& m) { slic_halves(m, false, true, 1); });
  add("f16v4hihov4slic", "=aa,aa,aa,z8", kSlic, [](Meaning& m) { slic_halves(m, true, true, 2); });
  add("f16v4stacc", "=aa,z1", "accumulators 0 and 2 as floats; 4 and 6 become 1 and 3", [](Meaning& m) {
    m.set(0, m.vector_of({m.accumulator(0), m.accumulator(2)}));
    m.set_accumulator(1, m.accumulator(4));
    m.set_accumulator(3, m.accumulator(6));
  });
  return rows;
}

}  // namespace pando::popc
