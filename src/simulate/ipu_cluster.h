// An IPU of `machine/` as a machine that programs are distributed over: what the cycle model counts, as rates.
#pragma once

#include "machine/machine.h"
#include "simulate/cluster.h"

namespace pando::simulate {

// `tiles`: of each IPU; 0: the machine's.
Cluster cluster_of_ipus(const Machine& machine, std::int64_t tiles = 0);
// "ipu2", "ipu2:64" (of 64 tiles): one IPU, or a cluster of them; nothing for any other name.
std::optional<Machine> ipu_named(std::string_view name);
std::optional<Cluster> ipu_cluster_named(std::string_view name);

}  // namespace pando::simulate
