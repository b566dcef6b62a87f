// Tuples whose elements are known.
#pragma once

#include "ir/module.h"

namespace pando::transform {

// Reads elements of tuples where they were made, and takes out tuples that nobody reads as a whole any more. Outputs of the main graph that
// are tuples become their elements. Tuples that go into or out of called graphs stay.
void flatten_tuples(ir::Module& module);

}  // namespace pando::transform
