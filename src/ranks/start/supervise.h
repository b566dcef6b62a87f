// A rank that MPI started, and beside it the process that MPI knows. It says what the rank was doing when a signal ends it: `pando run
// --ranks` has its own watch for that, a bare mpirun has none.
#pragma once

#include "ranks/board.h"

#include <functional>

namespace pando::ranks {

// Runs `rank` in a child of this process, in which this returns its status; in this process, the child's. Of a child that a signal ended, a
// line on standard error names device, step and last operation, and the status is 128 and the signal's number. Call it before there are
// other threads; `board` has no file: both processes see its memory.
int supervise(const Board& board, const std::function<int()>& rank);

}  // namespace pando::ranks
