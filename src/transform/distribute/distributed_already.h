// What no transform distributes and no search looks at.
#pragma once

#include "ir/module.h"

namespace pando::transform {

// Refuses (value) a module whose values are tuples or lie on several devices: it is distributed already.
void refuse_distributed(const ir::Module& module);

}  // namespace pando::transform
