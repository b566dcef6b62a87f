// Moves, constants, and operations on bits that registers of both files have.
#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

// The result's lanes, as numbers of lanes of both operands one behind the other.
void shuffle(Meaning& m, unsigned lane_bits, std::vector<int> lanes) {
  Type* lane = m.b.getIntNTy(lane_bits);
  Value* a = m.lanes(1, lane);
  Value* b = m.operands() > 2 ? m.lanes(2, lane) : a;
  m.set(0, m.b.CreateShuffleVector(a, b, lanes));
}

}  // namespace

std::vector<InstructionRow> instructions_bits() {
  std::vector<InstructionRow> rows;
  constexpr IssuePipe kEither = IssuePipe::of_destination, kAux = IssuePipe::aux, kMain = IssuePipe::main;
  const auto add = [&](const char* name, IssuePipe pipe, const char* forms, const char* meaning, std::function<void(Meaning&)> emit) {
    rows.push_back({name, pipe, forms, meaning, std::move(emit)});
  };
  constexpr const char* kLogic = "=m,m,m|=m,m,zu|=a,a,a|=a,a,zu";
  add("and", kEither, kLogic, "bitwise and", [](Meaning& m) { m.set(0, m.b.CreateAnd(m.word(1), m.word(2))); });
  add("or", kEither, kLogic, "bitwise or", [](Meaning& m) { m.set(0, m.b.CreateOr(m.word(1), m.word(2))); });
  add("andc", kEither, kLogic, "bits of the first that the second lacks",
      [](Meaning& m) { m.set(0, m.b.CreateAnd(m.word(1), m.b.CreateNot(m.word(2)))); });
  add("not", kAux, "=a,a", "inverse bits", [](Meaning& m) { m.set(0, m.b.CreateNot(m.word(1))); });
  const auto wide = [](Meaning& m, std::size_t i) { return m.lanes(i, m.b.getInt32Ty()); };
  add("and64", kAux, "=aa,aa,aa", "bitwise and", [=](Meaning& m) { m.set(0, m.b.CreateAnd(wide(m, 1), wide(m, 2))); });
  add("or64", kAux, "=aa,aa,aa", "bitwise or", [=](Meaning& m) { m.set(0, m.b.CreateOr(wide(m, 1), wide(m, 2))); });
  add("andc64", kAux, "=aa,aa,aa", "bits of the first that the second lacks",
      [=](Meaning& m) { m.set(0, m.b.CreateAnd(wide(m, 1), m.b.CreateNot(wide(m, 2)))); });
  add("not64", kAux, "=aa,aa", "inverse bits", [=](Meaning& m) { m.set(0, m.b.CreateNot(wide(m, 1))); });
  add("mov", kEither, "=m,m|=a,a|=aa,aa|=m,a", "copies",
      [](Meaning& m) { m.set(0, m.operand(0).count == 1 ? m.word(1) : m.lanes(1, m.b.getInt32Ty())); });
  add("atom", kMain, "=m,a", "copies a register of the auxiliary file to one of the main file", [](Meaning& m) { m.set(0, m.word(1)); });
  add("zero", kEither, "=m|=a|=aa", "0", [](Meaning& m) {
    for (unsigned k = 0; k < m.operand(0).count; ++k) m.set_part(0, k, m.b.getInt32(0));
  });
  add("setzi", kEither, "=m,z20|=a,z20", "a constant of 20 bits, or an address", [](Meaning& m) { m.set(0, m.word(1)); });
  add("ldconst", kEither, "=m,c32|=a,c32", "a constant, in one instruction or two", [](Meaning& m) { m.set(0, m.word(1)); });
  add("nop", kMain, "-", "nothing", [](Meaning&) {});
  add("fnop", kAux, "-", "nothing", [](Meaning&) {});

  const auto shuffled = [&](const char* name, IssuePipe pipe, const char* forms, const char* meaning, unsigned bits,
                            std::vector<int> lanes) { add(name, pipe, forms, meaning, [=](Meaning& m) { shuffle(m, bits, lanes); }); };
  const auto sorted = [&](const char* name, const char* forms, const char* meaning, std::string suffix, int first) {
    add(name, kEither, forms, meaning, [=](Meaning& m) {
      const bool is_turned = m.operand(1).suffix == suffix;
      shuffle(m, 16, {is_turned ? 1 - first : first, 2 + first});
    });
  };
  sorted("sort4x16lo", "=m,m,m|=a,a,a|=a,a:BU,a", "lower halves of both", ":BU", 0);
  sorted("sort4x16hi", "=m,m,m|=a,a,a|=a,a:BL,a", "upper halves of both", ":BL", 1);
  shuffled("roll16", kEither, "=m,m,m|=a,a,a", "upper half of the first, lower half of the second", 16, {1, 2});
  shuffled("swap16", kEither, "=m,m|=a,a", "halves exchanged", 16, {1, 0});
  shuffled("roll32", kAux, "=aa,aa,aa", "upper word of the first, lower word of the second", 32, {1, 2});
  shuffled("sort4x32lo", kAux, "=aa,aa,aa", "lower words of both", 32, {0, 2});
  shuffled("sort4x32hi", kAux, "=aa,aa,aa", "upper words of both", 32, {1, 3});
  shuffled("shuf8x8lo", kMain, "=m,m,m", "lower two bytes of both, in turn", 8, {0, 4, 1, 5});
  shuffled("shuf8x8hi", kMain, "=m,m,m", "upper two bytes of both, in turn", 8, {2, 6, 3, 7});
  shuffled("sort8x8lo", kMain, "=m,m,m", "even bytes of the first, then of the second", 8, {0, 2, 4, 6});
  shuffled("sort8x8hi", kMain, "=m,m,m", "odd bytes of the first, then of the second", 8, {1, 3, 5, 7});
  shuffled("roll8l", kMain, "=m,m,m", "highest byte of the first, then three of the second", 8, {3, 4, 5, 6});
  shuffled("roll8r", kMain, "=m,m,m", "three bytes of the first, then the lowest of the second", 8, {1, 2, 3, 4});
  return rows;
}

}  // namespace pando::popc
