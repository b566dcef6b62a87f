// Operands as they are written: registers and their groups, suffixes, names of control registers.
#pragma once

#include <optional>
#include <string>

#include "popc/assembler/code/code.h"

namespace pando::popc {

// Throws AssemblyError: no register of that name, a group that does not begin at a multiple of its size.
AssemblyOperand read_operand(const std::string& text);

// The number of a control or status register: `$FP_CLR`; those of uget and uput lie 128 above.
std::optional<unsigned> control_register(const std::string& name);

// "$m3", "$a2:3"
std::string register_name(Bank bank, unsigned first, unsigned count);

}  // namespace pando::popc
