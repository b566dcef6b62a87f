#include "popc/assembler/code/linked.h"

#include <fmt/format.h>

#include "codelet/runtime/worker_memory.h"

namespace pando::popc {

namespace {

constexpr std::uint32_t kMostBytes = kWindowAddress - kCodeAddress;

void put(std::string& bytes, std::uint64_t at, std::uint64_t value, unsigned size) {
  for (unsigned k = 0; k < size; ++k) bytes[at + k] = static_cast<char>(value >> (8 * k));
}

}  // namespace

LinkedAssembly::LinkedAssembly(std::vector<AssemblyUnit> units) : units_(std::move(units)) {
  place();
  define();
  for (AssemblyUnit& unit : units_) resolve(unit);
}

void LinkedAssembly::place() {
  std::uint64_t end = kCodeAddress;
  for (AssemblyUnit& unit : units_)
    for (CodeSection& s : unit.sections) {
      end = (end + s.align - 1) / s.align * s.align;
      s.address = end;
      end += s.bytes.size();
      has_data_ = has_data_ || s.items.empty() ? has_data_ || !s.bytes.empty() : has_data_ || !s.expressions.empty();
    }
  if (end - kCodeAddress > kMostBytes)
    throw AssemblyError(fmt::format("the program has {} bytes of assembly; there is room for {}", end - kCodeAddress, kMostBytes));
  image_.assign(end - kCodeAddress, '\0');
}

void LinkedAssembly::define() {
  for (const AssemblyUnit& unit : units_)
    for (const auto& [name, symbol] : unit.symbols) {
      if (symbol.section < 0) continue;
      const auto address = static_cast<std::uint32_t>(unit.sections[static_cast<std::size_t>(symbol.section)].address +
                                                      static_cast<std::uint64_t>(symbol.number));
      own_.emplace(name, address);
      if (symbol.is_global) symbols_.emplace(name, address);
    }
}

std::uint64_t LinkedAssembly::address_of(const AssemblyUnit& unit, const AssemblyValue& value, bool& is_known) const {
  is_known = true;
  if (value.section >= 0) return unit.sections[static_cast<std::size_t>(value.section)].address + static_cast<std::uint64_t>(value.number);
  if (value.symbol.empty()) return static_cast<std::uint64_t>(value.number);
  const auto known = symbols_.find(value.symbol);
  is_known = known != symbols_.end();
  return is_known ? known->second + static_cast<std::uint64_t>(value.number) : 0;
}

void LinkedAssembly::resolve(AssemblyUnit& unit) {
  bool is_known = true;
  for (CodeSection& s : unit.sections) {
    s.bytes.copy(image_.data() + (s.address - kCodeAddress), s.bytes.size());
    for (CodeItem& item : s.items) {
      code_[static_cast<std::uint32_t>(s.address) + item.offset] = &item;
      for (AssemblyInstruction& i : item.instructions)
        for (AssemblyOperand& o : i.operands) {
          if (o.kind != AssemblyOperand::Kind::expression) continue;
          o.value.number = static_cast<std::int64_t>(address_of(unit, o.value, is_known));
          if (!is_known) undefined_.emplace(&i, o.value.symbol);
        }
    }
    for (const DataExpression& d : s.expressions) {
      const std::uint64_t value = address_of(unit, d.value, is_known);
      put(image_, s.address - kCodeAddress + d.offset, value, d.bytes);
      if (!d.value.is_number()) tables_.push_back(static_cast<std::uint32_t>(value));
    }
  }
}

const std::uint32_t* LinkedAssembly::find(const std::string& symbol) const {
  for (const auto* names : {&symbols_, &own_})
    if (const auto known = names->find(symbol); known != names->end()) return &known->second;
  return nullptr;
}

const CodeItem* LinkedAssembly::at(std::uint32_t address) const {
  const auto known = code_.find(address);
  return known == code_.end() ? nullptr : known->second;
}

const std::string* LinkedAssembly::undefined_in(const AssemblyInstruction& i) const {
  const auto known = undefined_.find(&i);
  return known == undefined_.end() ? nullptr : &known->second;
}

std::vector<std::string> LinkedAssembly::defined() const {
  std::vector<std::string> out;
  for (const auto& [name, address] : symbols_) out.push_back(name);
  return out;
}

}  // namespace pando::popc
