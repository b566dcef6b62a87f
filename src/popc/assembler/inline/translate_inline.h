// Inline assembly of workers in C++: each statement becomes a call of a function in IR.
//
// Operands go to registers by their types: integers and addresses to the main file, floats, halves and short vectors to the auxiliary file.
// Addresses of the host become the tile's and back. $m0 to $m3 that no operand has hold the function's first arguments: in compute(), $m0
// is the address of the vertex's state as a tile has it. Accumulators and control registers stay as they are from statement to statement.
#pragma once

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "codelet/store/codelet.h"
#include "popc/assembler/assembler.h"

namespace pando::popc {

// Why it cannot be assembled; empty: it can. `before`: what earlier statements defined; this one's definitions come to it.
std::string why_no_worker_runs(const llvm::CallBase& call, const llvm::InlineAsm& assembly, Assembler& before);

// Replaces all statements that can be assembled. Marks the codelets that compute with addresses of their tile. The module has the loader's
// symbols.
void translate_inline_assembly(llvm::Module& module, std::vector<Codelet>& codelets, const std::string& general);

}  // namespace pando::popc
