// What no transform distributes and no search looks at.
#pragma once

#include "ir/module.h"

namespace pando::transform {

// Rejects (value) a module whose values are tuples or lie on several devices: it is distributed already.
void reject_distributed(const ir::Module& module);

}  // namespace pando::transform
