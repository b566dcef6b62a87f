// Ranks that are parts of one process. A run without MPI is one rank; tests have several.
#pragma once

#include "exec/transports/transport.h"

#include <memory>
#include <vector>

namespace pando::exec {

// One end for each rank. They share what lies between them; the last one that goes takes it along.
std::vector<std::unique_ptr<Transport>> in_process_transports(unsigned ranks);

}  // namespace pando::exec
