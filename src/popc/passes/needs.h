// What libraries of functions need of the tiles of codelets that call them: pando::Needs of include/pando/tile.hpp.
#pragma once

#include <llvm/IR/Module.h>

#include <vector>

#include "codelet/store/codelet.h"

namespace pando::popc {

// Adds to each codelet the needs of what it reaches. Before optimising. Throws std::runtime_error if a declaration is no constant.
void read_needs(const llvm::Module& module, std::vector<Codelet>& codelets);

}  // namespace pando::popc
