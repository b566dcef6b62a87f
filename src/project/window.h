// Policies that update once in a window of samples.
#pragma once

#include "project/loop.h"

namespace pando::project {

// Takes the update out of the body and adds the sums that it reads. See make_loop.
void split_update(LoopProgram& loop);

}  // namespace pando::project
