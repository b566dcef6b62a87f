// The instructions of a worker: one row each, in a file for each family.
//
// Forms are alternatives, apart by |, of operands, apart by commas. An operand:
//   m a            a register          mm aa aaaa   a group          =a  it is written      +m  it is read and written
//   a:B a:BL a:BU  a suffix that has to be there; so m+= mm+= m++ m@ m>>
//   zN sN iN       a number of N bits: unsigned, signed, either
//   zu             12 bits, or a number whose lower 20 bits are zero
//   c32            any constant        L            a place in code    csr        a control register
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "popc/assembler/code/code.h"

namespace pando::popc {

class Meaning;  // translate/meaning.h

enum class IssuePipe : std::uint8_t { main, aux, of_destination };

// Where control goes. The meaning gives the condition, if there is one.
enum class Flow : std::uint8_t { next, jump, branch, call, indirect, exit, repeat, start_workers, supervisor };

struct InstructionRow {
  std::string name;
  IssuePipe pipe = IssuePipe::main;
  std::string forms;
  std::string meaning;                 // for people
  std::function<void(Meaning&)> emit;  // as IR
  Flow flow = Flow::next;
  unsigned slots = 1;  // that its worker is busy
};

// All rows, sorted by name.
std::span<const InstructionRow> instruction_rows();
const InstructionRow* find_instruction(std::string_view name);
// Names that are similar, for messages.
std::vector<std::string> similar_instructions(std::string_view name);

// The form that the operands fit, or none. Whether numbers fit is seen later.
std::string fitting_form(const InstructionRow& row, const std::vector<AssemblyOperand>& operands);
std::vector<std::string> form_operands(std::string_view form);
// Why the number does not fit the operand of a form; empty: it does.
std::string why_unfit(std::string_view form_operand, std::int64_t number);
Bank pipe_of(const AssemblyInstruction& instruction);

}  // namespace pando::popc
