// Expressions of assembly: C's operators on 64-bit numbers, and places (a label, `.`) whose differences are numbers.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "popc/assembler/code/code.h"

namespace pando::popc {

// What a name is worth. Throws AssemblyError if it has no value yet.
using LookUp = std::function<AssemblyValue(const std::string& name)>;

// Throws AssemblyError: malformed, or no number where one is needed.
AssemblyValue evaluate(std::string_view expression, const LookUp& look_up);

// Bits of an IEEE half.
std::uint16_t half_bits(double value);

}  // namespace pando::popc
