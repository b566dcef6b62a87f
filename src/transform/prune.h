// Takes out ops that nobody needs.
#pragma once

#include "ir/module.h"

#include <cstddef>

namespace pando::transform {

// Takes out of every graph the ops whose results reach no output, no final and no op with an effect; how many. An order that the user
// demanded through an op that goes stays between its neighbours. Tensors of a builder may have held what goes: use the module alone then.
std::size_t prune(ir::Module& module);

}  // namespace pando::transform
