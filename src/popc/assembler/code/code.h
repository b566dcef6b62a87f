// Assembled code of a worker: sections of bundles and data, and the symbols that name places in them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pando::popc {

// Where a statement was written.
struct SourcePlace {
  std::string file;
  unsigned line = 0;
};
// "FILE:LINE: "
std::string prefix(const SourcePlace& place);

// A fault of one statement; the assembler collects them and says all.
struct AssemblyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct InstructionRow;

enum class Bank : std::uint8_t { none, main, aux };

// What an expression is worth: a number, or a place in a section, or one relative to a symbol of another file.
struct AssemblyValue {
  std::int64_t number = 0;
  int section = -1;    // of the unit; -1: a plain number
  std::string symbol;  // that the unit does not define
  bool is_number() const { return section < 0 && symbol.empty(); }
};

struct AssemblyOperand {
  enum class Kind : std::uint8_t { registers, expression, text };
  Kind kind = Kind::registers;
  Bank bank = Bank::none;  // of registers
  unsigned first = 0, count = 1;
  std::string suffix;      // "+=", "++", "@", ">>", ":B", ":BL", ":BU"
  std::string expression;  // as written, local labels made unique
  AssemblyValue value;     // of the expression, once the unit is complete
  bool is_zero_register() const { return kind == Kind::registers && first == 15 && count == 1; }
};

struct AssemblyInstruction {
  const InstructionRow* row = nullptr;
  std::string form;  // of the row's forms: the one that fits
  std::vector<AssemblyOperand> operands;
  SourcePlace place;
  std::string text;
};

// What is issued in one slot: an instruction of either pipe, or one of each.
struct CodeItem {
  std::vector<AssemblyInstruction> instructions;  // one, or main and aux
  std::uint32_t offset = 0;                       // in its section
  std::uint32_t bytes() const { return 4 * static_cast<std::uint32_t>(instructions.size()); }
};

// A word of data that holds the value of an expression.
struct DataExpression {
  std::uint32_t offset = 0;
  unsigned bytes = 4;
  std::string expression;
  AssemblyValue value;
  SourcePlace place;
};

struct CodeSection {
  std::string name;
  std::vector<CodeItem> items;  // by offset
  std::string bytes;            // data; zero where code is
  std::vector<DataExpression> expressions;
  std::uint32_t align = 8;
  std::uint64_t address = 0;  // on a tile, once it is linked
};

struct AssemblySymbol {
  int section = -1;
  std::int64_t number = 0;  // offset in the section, or a plain number
  bool is_global = false;
  SourcePlace place = {};  // of a label
};

// One file's code.
struct AssemblyUnit {
  std::string file;
  std::vector<CodeSection> sections;
  std::map<std::string, AssemblySymbol> symbols;
};

}  // namespace pando::popc
