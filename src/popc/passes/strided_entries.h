// Which codelets keep an entry for vertices at equal strides (vertices/entries.h).
#pragma once

#include <llvm/IR/Module.h>

#include <vector>

#include "codelet/store/codelet.h"

namespace pando::popc {

// All of them.
void remove_strided_entries(llvm::Module& module);

// Of optimised code. Removes those of vertices that may write their fields, of which the entry has only a copy; those whose results depend
// on how they were optimised (-ffast-math and its parts), which would be others than those of the first entry; and those that gain nothing:
// of code that is long, that did not get the copy into registers, or that is called tile by tile.
void drop_strided_entries(llvm::Module& module, const std::vector<Codelet>& codelets);

}  // namespace pando::popc
