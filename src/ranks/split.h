// A module with devices as one program for each device.
#pragma once

#include "ranks/program.h"

#include <cstdint>
#include <map>
#include <string>

namespace pando::ranks {

struct SplitOptions {
  // Of every channel, but those that are named.
  std::int64_t capacity = 1;
  std::map<std::string, std::int64_t> capacities;
};

// What `pando transform` prints, or any module without replicas whose values lie on numbered devices; what is not said follows, as in project/place.h.
// Ops between devices become channels, named after the value that arrives. All devices keep the order of the one program: so no capacity
// makes them wait for ever. Outputs of the main graph are stored to streams of their names.
//
// Refuses: what the verifier finds; (value) a capacity for a channel that there is not; (not_implemented) replicas, ops outside of the main program,
// remote buffers that several devices use.
Program split(ir::Module module, const SplitOptions& options = {});

}  // namespace pando::ranks
