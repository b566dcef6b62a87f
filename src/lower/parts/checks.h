// What tiles cannot compute, found before anything is lowered.
#pragma once

#include "ir/module.h"

namespace pando::lower {

// Rejects (popart) ops without a lowering, all together.
void reject_what_has_no_lowering(const ir::Module& module);
// Rejects (popart) element types that tiles do not have, at the first op that has to do with one; a variable may have none.
void reject_types(const ir::Module& module);

}  // namespace pando::lower
