// One statement of inline assembly: its operands get registers, its text becomes a worker's code.
#pragma once

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstrTypes.h>

#include <optional>
#include <string>
#include <vector>

#include "popc/assembler/assembler.h"

namespace pando::popc {

struct InlineOperand {
  llvm::Type* type = nullptr;
  Bank bank = Bank::main;
  unsigned first = 0, count = 1;
  bool is_output = false, is_immediate = false;
  std::int64_t number = 0;  // of an immediate
  int argument = -1;        // of the call, for inputs
  int tied = -1;            // an input that has the register of this output
};

struct InlineBlock {
  std::vector<InlineOperand> operands;  // as the text numbers them: outputs, then inputs
  std::string text;                     // with registers in the place of operands
  std::vector<unsigned> free_reads;     // $m0 to $m3, if the text names them and no operand has them: arguments of the function
  bool names_vertex_state = false;      // $mvertex_base
};

// Throws AssemblyError: an operand that has no register, more operands than registers.
InlineBlock read_inline(const llvm::CallBase& call, const llvm::InlineAsm& assembly);

}  // namespace pando::popc
