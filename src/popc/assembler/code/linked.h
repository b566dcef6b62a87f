// The code of all units of a program, with addresses.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "popc/assembler/code/code.h"

namespace pando::popc {

class LinkedAssembly {
 public:
  // Throws AssemblyError: a symbol that two units define, more code and data than there are addresses.
  explicit LinkedAssembly(std::vector<AssemblyUnit> units);

  // The address of a symbol that other files see, or of any of that name if only one unit has it.
  const std::uint32_t* find(const std::string& symbol) const;
  // Null: there is no code.
  const CodeItem* at(std::uint32_t address) const;
  bool is_code(std::uint32_t address) const { return at(address) != nullptr; }
  // Code addresses that words of data hold: tables of jumps.
  const std::vector<std::uint32_t>& tables() const { return tables_; }
  // Code is zero in it, data are what they are; it begins at kCodeAddress.
  const std::string& image() const { return image_; }
  bool has_data() const { return has_data_; }
  // Symbols that no unit defines, by the instruction that names them.
  const std::string* undefined_in(const AssemblyInstruction& instruction) const;
  std::vector<std::string> defined() const;

 private:
  void place();
  void define();
  void resolve(AssemblyUnit& unit);
  std::uint64_t address_of(const AssemblyUnit& unit, const AssemblyValue& value, bool& is_known) const;

  std::vector<AssemblyUnit> units_;
  std::map<std::string, std::uint32_t> symbols_, own_;
  std::map<std::uint32_t, const CodeItem*> code_;
  std::vector<std::uint32_t> tables_;
  std::string image_;
  bool has_data_ = false;
  std::map<const AssemblyInstruction*, std::string> undefined_;
};

}  // namespace pando::popc
