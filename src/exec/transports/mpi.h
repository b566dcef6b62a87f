// MPI ranks. MPI is not needed to build or run anything else: the transport is libpando_mpi.so, beside the other libraries, which is loaded
// when the process was started by an MPI launcher.
#pragma once

#include "exec/transports/transport.h"

#include <memory>

namespace pando::exec {

// Whether an MPI launcher (mpirun, mpiexec, srun with PMI) started this process: by the variables that launchers set.
bool started_by_mpi();
// Initialises MPI. Throws no_environment, with what the loader says, if libpando_mpi.so or MPI is not there. Null: not all ranks have come
// within so many seconds (0: for ever); then nothing is left for this process but _exit().
std::unique_ptr<Transport> open_mpi(double seconds);

}  // namespace pando::exec
