// Loads and stores of one address, with an offset or a step.
#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

// base + delta + offset in units of the access; without a delta, `base, offset`.
Value* offset_address(Meaning& m, std::size_t first, unsigned bytes) {
  const bool has_delta = m.operands() == first + 3;
  Value* address = m.word(first);
  if (has_delta) address = m.b.CreateAdd(address, m.word(first + 1));
  return m.b.CreateAdd(address, m.times(m.word(first + (has_delta ? 2 : 1)), bytes));
}

// base + delta; the delta steps.
Value* step_address(Meaning& m, std::size_t first, unsigned bytes) {
  Value* delta = m.word(first + 1);
  m.set(first + 1, m.b.CreateAdd(delta, m.times(m.word(first + 2), bytes)));
  return m.b.CreateAdd(m.word(first), delta);
}

using Address = Value* (*)(Meaning&, std::size_t, unsigned);

bool is_discarded(const AssemblyOperand& o) { return o.first + o.count == 16 && o.first >= 14; }

enum class Extend : std::uint8_t { none, zeros, sign, both };

void load(Meaning& m, Address address, unsigned bytes, Extend extend) {
  Value* at = address(m, 1, bytes);
  if (is_discarded(m.operand(0))) return;  // for its step alone
  Type* type = bytes == 16  ? static_cast<Type*>(FixedVectorType::get(m.b.getInt32Ty(), 4))
               : bytes == 8 ? static_cast<Type*>(FixedVectorType::get(m.b.getInt32Ty(), 2))
                            : m.b.getIntNTy(8 * bytes);
  Value* value = m.load(type, at);
  if (extend == Extend::sign) value = m.b.CreateSExt(value, m.b.getInt32Ty());
  if (extend == Extend::both) {
    value = m.b.CreateZExt(value, m.b.getInt32Ty());
    for (unsigned shift = 8 * bytes; shift < 32; shift *= 2) value = m.b.CreateOr(value, m.b.CreateShl(value, shift));
  }
  m.set(0, value);
}

void store(Meaning& m, Address address, unsigned bytes) {
  Value* at = address(m, 1, bytes);
  Type* type = bytes == 8 ? static_cast<Type*>(FixedVectorType::get(m.b.getInt32Ty(), 2)) : m.b.getInt32Ty();
  m.store(bytes == 8 ? m.lanes(0, m.b.getInt32Ty()) : m.b.CreateBitCast(m.word(0), type), at);
}

void add_load(std::vector<InstructionRow>& rows, const std::string& name, std::vector<std::string> data, unsigned bytes, Extend extend,
              const std::string& meaning) {
  std::string offset, step;
  for (const std::string& d : data) {
    offset += (offset.empty() ? "" : "|") + memory_forms("=" + d);
    step += (step.empty() ? "" : "|") + step_forms("=" + d);
  }
  rows.push_back({name, IssuePipe::main, offset, meaning, [=](Meaning& m) { load(m, offset_address, bytes, extend); }});
  rows.push_back(
      {name + "step", IssuePipe::main, step, meaning + "; the address steps", [=](Meaning& m) { load(m, step_address, bytes, extend); }});
}

}  // namespace

std::vector<InstructionRow> instructions_memory() {
  std::vector<InstructionRow> rows;
  add_load(rows, "ld32", {"m", "a"}, 4, Extend::none, "loads 4 bytes");
  add_load(rows, "ld64", {"aa"}, 8, Extend::none, "loads 8 bytes; the lower register has the lower address");
  add_load(rows, "ld128", {"aaaa"}, 16, Extend::none, "loads 16 bytes");
  add_load(rows, "ldz16", {"m"}, 2, Extend::zeros, "loads 2 bytes, extended with zeros");
  add_load(rows, "lds16", {"m"}, 2, Extend::sign, "loads 2 bytes, extended with the sign");
  add_load(rows, "ldz8", {"m"}, 1, Extend::zeros, "loads a byte, extended with zeros");
  add_load(rows, "lds8", {"m"}, 1, Extend::sign, "loads a byte, extended with the sign");
  add_load(rows, "ldb16", {"a"}, 2, Extend::both, "loads 2 bytes into both halves");
  add_load(rows, "ldb8", {"a"}, 1, Extend::both, "loads a byte into all four");
  for (const auto& [name, data, bytes] : {std::tuple("st32", "a", 4u), std::tuple("st64", "aa", 8u)}) {
    const unsigned n = bytes;
    std::string offset = memory_forms(data), step = step_forms(data);
    if (n == 4) offset += "|" + memory_forms("m", false), step += "|" + step_forms("m", false);
    rows.push_back(
        {name, IssuePipe::main, offset, "stores " + std::to_string(n) + " bytes", [=](Meaning& m) { store(m, offset_address, n); }});
    rows.push_back({std::string(name) + "step", IssuePipe::main, step, "stores " + std::to_string(n) + " bytes; the address steps",
                    [=](Meaning& m) { store(m, step_address, n); }});
  }
  rows.push_back({"stm32", IssuePipe::main, "m,m,m", "stores 4 bytes at base + 4 x offset",
                  [](Meaning& m) { m.store(m.word(0), m.b.CreateAdd(m.word(1), m.times(m.word(2), 4))); }});
  rows.push_back({"stm32step", IssuePipe::main, "m,+m+=,m", "stores 4 bytes at base; the base steps", [](Meaning& m) {
                    m.store(m.word(0), m.word(1));
                    m.set(1, m.b.CreateAdd(m.word(1), m.times(m.word(2), 4)));
                  }});
  return rows;
}

}  // namespace pando::popc
