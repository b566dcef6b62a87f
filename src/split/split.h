// A module with devices as one program for each device.
#pragma once

#include "split/collectives.h"
#include "split/program.h"

#include <cstdint>
#include <map>
#include <string>

namespace pando::split {

struct SplitOptions {
  // Of every channel, but those that are named.
  std::int64_t capacity = 1;
  std::map<std::string, std::int64_t> capacities;
  // Reductions of tensors of so many bytes are shared out among their devices (collectives.h); smaller ones go whole.
  std::int64_t part_bytes = kPartBytes;
};

// What `pando transform` prints, or any module whose values lie on numbered devices; what is not said follows, as in split/place.h.
// Ops between devices become channels, named after the value that arrives. All devices keep the order of the one program: so no capacity
// makes them wait for ever. Outputs of the main graph are stored to streams of their names.
//
// A remote buffer that several devices use lies with one of them: see parts/share_buffers.h. Replicas are further devices: see
// parts/replicas.h.
//
// Rejects: what the verifier finds; (value) a capacity for a channel that there is not; (not_implemented) ops outside of the main program,
// a remote buffer that several devices use inside of graphs, branches in which devices or replicas meet.
Program split_program(ir::Module module, const SplitOptions& options = {});

}  // namespace pando::split
