// What the families of instructions share.
#pragma once

#include "popc/assembler/instructions/rows.h"
#include "popc/assembler/meaning/meaning.h"

namespace pando::popc {

// The forms of `base, delta, offset` behind an operand; `offset`: what the last may be.
inline std::string memory_forms(const std::string& data, bool takes_registers = true) {
  std::string out = data + ",m,m,z12|" + data + ",m,z12";
  if (takes_registers) out += "|" + data + ",m,m,m|" + data + ",m,m";
  return out;
}
// `base, delta+=, step`.
inline std::string step_forms(const std::string& data, bool takes_registers = true) {
  std::string out = data + ",m,+m+=,s12";
  if (takes_registers) out += "|" + data + ",m,+m+=,m";
  return out;
}

}  // namespace pando::popc
