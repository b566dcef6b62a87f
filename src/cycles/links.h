// Traffic between IPUs on the ladder of machine.h.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.h"

namespace pando::cycles {

// IPUs are counted over all replicas.
struct Flow {
  unsigned from = 0;
  unsigned to = 0;
  std::uint64_t bytes = 0;
};

// Cycles until the busiest bundle of links has passed its bytes; 0 without flows. Routes are those machine.h draws.
std::uint64_t link_cycles(const Machine& machine, const std::vector<Flow>& flows);

// Cycles of a sync between IPUs that lie `span` apart on the ladder (span = last - first + 1); 0 within one IPU.
std::uint64_t global_sync_cycles(const Machine& machine, unsigned span);

}  // namespace pando::cycles
