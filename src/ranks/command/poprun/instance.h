// One instance: between mpirun and the user's program stands a process that tells the program which instance it is, keeps what it prints if
// nobody wants it, and says how it ended.
#pragma once

#include <string>
#include <vector>

namespace pando::ranks {

// Runs the command in a child, with POPDIST_INSTANCE_INDEX, POPDIST_REPLICA_INDEX_OFFSET and the like in its environment; returns its
// status, 128 and the signal's number where a signal ended it. What instances have in common is in the environment already.
int run_instance(const std::vector<std::string>& command);

// Variables of the environment between poprun and its instances.
inline constexpr const char* kOnlyOutputFrom = "PANDO_POPRUN_ONLY_OUTPUT_FROM";
inline constexpr const char* kLocalReplicas = "POPDIST_NUM_LOCAL_REPLICAS";

}  // namespace pando::ranks
