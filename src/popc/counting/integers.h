// Patterns of integers: what workers' instructions of the main pipe make of additions, divisions, comparisons and their kin.
#pragma once

#include <llvm/IR/Instruction.h>

#include <optional>
#include <string>
#include <vector>

namespace pando::popc {

// Of a number of 32 bits: one instruction, or what it takes. Null and `why`: workers do not compute it.
std::optional<std::vector<const char*>> integer_operation(const llvm::Instruction& i, std::string& why);

// Instructions that put an integer constant into a register: `setzi` holds 20 bits, `or` adds the upper 12.
unsigned integer_constant_instructions(const llvm::APInt& value);

}  // namespace pando::popc
