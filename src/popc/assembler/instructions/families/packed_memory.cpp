// Loads and stores through three addresses that are packed into a pair of registers, and through a table of offsets.
#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr unsigned kBits = 21, kMask = (1u << kBits) - 1;

// Three addresses of 21 bits in 64: the first two below, the third in what is left, its lower 11 bits first.
struct Packed {
  Value* address[3];
};

Packed unpack(Meaning& m, std::size_t i) {
  Value *low = m.part(i, 0), *high = m.part(i, 1);
  Value* third = m.b.CreateOr(m.b.CreateLShr(low, kBits), m.b.CreateShl(m.b.CreateLShr(high, kBits), 32 - kBits));
  return {{m.b.CreateAnd(low, kMask), m.b.CreateAnd(high, kMask), m.b.CreateAnd(third, kMask)}};
}

Value* packed_word(Meaning& m, Value* address, Value* upper) {
  return m.b.CreateOr(m.b.CreateAnd(address, kMask), m.b.CreateShl(upper, kBits));
}

void pack(Meaning& m, std::size_t i, const Packed& p) {
  m.set_part(i, 0, packed_word(m, p.address[0], p.address[2]));
  m.set_part(i, 1, packed_word(m, p.address[1], m.b.CreateLShr(m.b.CreateAnd(p.address[2], kMask), 32 - kBits)));
}

// A select of two bits: by one, or by one of the three fields of 10 bits in the strides.
Value* step(Meaning& m, std::size_t strides, unsigned select, unsigned bytes) {
  if (select == 0) return m.b.getInt32(bytes);
  const unsigned field = select - 1;
  Value* word = m.b.CreateShl(m.word(strides), 32 - 10 * (field + 1));
  return m.times(m.b.CreateAShr(word, 22), bytes);
}

Type* pair(Meaning& m) { return FixedVectorType::get(m.b.getInt32Ty(), 2); }

// `bytes`: of the access through each address; `at`: operands of the addresses, which the strides and selects follow.
void advance(Meaning& m, std::size_t at, Packed p, std::initializer_list<unsigned> which, std::initializer_list<unsigned> bytes) {
  const auto selects = static_cast<unsigned>(m.number(at + 2));
  unsigned k = 0;
  for (const unsigned address : which) {
    p.address[address] = m.b.CreateAdd(p.address[address], step(m, at + 1, selects >> (2 * k) & 3, *(bytes.begin() + k)));
    ++k;
  }
  pack(m, at, p);
}

Value* loaded(Meaning& m, unsigned bytes, bool repeats, Value* address) {
  if (bytes == 8) return m.load(pair(m), address);
  Value* value = m.b.CreateZExt(m.load(m.b.getIntNTy(8 * bytes), address), m.b.getInt32Ty());
  return repeats ? m.b.CreateOr(value, m.b.CreateShl(value, 16)) : value;
}

// Two loads, and both addresses step.
void load_two(Meaning& m, unsigned second_bytes, bool repeats) {
  const Packed p = unpack(m, 2);
  m.set(0, m.load(pair(m), p.address[0]));
  m.set(1, loaded(m, second_bytes, repeats, p.address[1]));
  advance(m, 2, p, {0, 1}, {8, second_bytes});
}

// An element at base + the old offset; the new one comes from the table.
void load_by_table(Meaning& m, unsigned bytes, bool repeats) {
  Value* delta = m.b.CreateAnd(m.word(3), 0xffff);
  m.set(0, loaded(m, bytes, repeats, m.b.CreateAdd(m.word(2), delta)));
  Value* table = m.word(1);
  m.set(3, m.b.CreateZExt(m.load(m.b.getInt16Ty(), table), m.b.getInt32Ty()));
  m.set(1, m.b.CreateAdd(table, m.b.getInt32(2)));
}

}  // namespace

std::vector<InstructionRow> instructions_packed_memory() {
  std::vector<InstructionRow> rows;
  const auto add = [&](const char* name, const char* forms, const char* meaning, std::function<void(Meaning&)> emit) {
    rows.push_back({name, IssuePipe::main, forms, meaning, std::move(emit)});
  };
  add("tapack", "=mm,m,m,m", "packs three addresses of 21 bits", [](Meaning& m) { pack(m, 0, {{m.word(1), m.word(2), m.word(3)}}); });
  add("ld2x64pace", "=aa,=aa,+mm+=,m,z4", "loads 8 bytes at the first and at the second address; both step",
      [](Meaning& m) { load_two(m, 8, false); });
  add("ld64a32pace", "=aa,=a,+mm+=,m,z4", "loads 8 bytes at the first address and 4 at the second; both step",
      [](Meaning& m) { load_two(m, 4, false); });
  add("ld64b16pace", "=aa,=a,+mm+=,m,z4", "loads 8 bytes at the first address, and 2 into both halves at the second; both step",
      [](Meaning& m) { load_two(m, 2, true); });
  add("st64pace", "aa,+mm+=,m,z2", "stores 8 bytes at the third address, which steps", [](Meaning& m) {
    const Packed p = unpack(m, 1);
    m.store(m.lanes(0, m.b.getInt32Ty()), p.address[2]);
    advance(m, 1, p, {2}, {8});
  });
  add("ldst64pace", "=aa,aa,+mm+=,m,z4", "loads 8 bytes at the first address, stores 8 at the third; both step", [](Meaning& m) {
    const Packed p = unpack(m, 2);
    Value* stored = m.lanes(1, m.b.getInt32Ty());
    m.set(0, m.load(pair(m), p.address[0]));
    m.store(stored, p.address[2]);
    advance(m, 2, p, {0, 2}, {8, 8});
  });
  add("ld2xst64pace", "=aaaa,aa,+mm+=,m,z6", "loads 8 bytes at the first and the second address, stores 8 at the third; all step",
      [](Meaning& m) {
        const Packed p = unpack(m, 2);
        Value* stored = m.lanes(1, m.b.getInt32Ty());
        Value *low = m.load(pair(m), p.address[0]), *high = m.load(pair(m), p.address[1]);
        for (unsigned k = 0; k < 4; ++k) m.set_part(0, k, m.lane(k < 2 ? low : high, k % 2));
        m.store(stored, p.address[2]);
        advance(m, 2, p, {0, 1, 2}, {8, 8, 8});
      });
  add("ldd16b16", "=a,+m++,m,+m@", "loads 2 bytes into both halves at base + offset; the next offset comes from the table",
      [](Meaning& m) { load_by_table(m, 2, true); });
  add("ldd16a32", "=a,+m++,m,+m@", "loads 4 bytes at base + offset; the next offset comes from the table",
      [](Meaning& m) { load_by_table(m, 4, false); });
  add("ldd16a64", "=aa,+m++,m,+m@", "loads 8 bytes at base + offset; the next offset comes from the table",
      [](Meaning& m) { load_by_table(m, 8, false); });
  return rows;
}

}  // namespace pando::popc
