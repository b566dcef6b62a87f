// Clobber lists of inline assembly of an IPU: asm("..." : out : in : "$a0", "$m3").
//
// clang knows the registers of hosts only. A worker's registers in a clobber list say nothing that the translation of its assembly needs:
// operands get registers that the text does not name.
#pragma once

#include <clang/Lex/Preprocessor.h>

namespace pando::popc {

// Registers of workers that are clobbered are read as "cc", from the next token on.
void accept_clobbers_of_workers(clang::Preprocessor& preprocessor);

}  // namespace pando::popc
