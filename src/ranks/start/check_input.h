// What can be wrong with a run before anything of it starts.
#pragma once

#include "ranks/run.h"

namespace pando::ranks {

// Rejects (value): more ranks than devices; a variable or a stream that no data are for, data of another shape or of no type of a tensor,
// or more than the host holds. Rejects (poplar_error) a machine that is not there. A run would find the same, once its devices have
// started.
void check_input(const Program& program, const Data& data, const Options& options, unsigned ranks);

}  // namespace pando::ranks
