// Where codelets are defined, as their module says it (kDefinedSuffix in codelet/store/code_lines.h).
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>

namespace pando::popc {

// Of the codelet of this entry. The place of an entry that has one is replaced.
void keep_definition(llvm::Module& module, const std::string& entry, const std::string& file, std::uint32_t line);

}  // namespace pando::popc
