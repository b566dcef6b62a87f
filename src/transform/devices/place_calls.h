// Calls lie where their operands do.
#pragma once

#include "ir/module.h"

namespace pando::transform {

// A graph that is traced before it is called has its values on device 0, as no one said otherwise. In a program whose main graph has
// values on other devices, such a graph loses its devices, and each call of it runs where its operands lie; so does what follows the
// results of the call. What a program says of devices otherwise stays. A program of one device stays as it is.
void place_calls(ir::Module& module);

}  // namespace pando::transform
