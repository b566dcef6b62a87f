// A module of several replicas as one of a single replica on more devices.
#pragma once

#include "ir/module.h"
#include "transform/distribute/pieces.h"

#include <string>
#include <vector>

namespace pando::split {

struct Spread {
  ir::Module module;
  // Which replica's part of what everything is: variables with a group's data, (groups, shape), streams and outputs, (replicas, shape).
  transform::PieceTable pieces;
  // Names of the main graph's outputs.
  std::vector<std::string> outputs;
};

// Replica r of a module with devices 0 to d - 1 gets the devices r * d to r * d + d - 1, buffers of its own, and streams and variables
// whose names end in
// ".r" and its number. Where replicas meet, an op on each device takes what the others send. Values of the main graph must lie on devices
// (split/place.h). `outputs`: what the main graph's outputs are called. Reductions of tensors of `part_bytes` are shared out
// (collectives.h). Rejects (not_implemented) replicas that meet inside of graphs.
Spread spread_replicas(const ir::Module& module, const std::vector<std::string>& outputs, std::int64_t part_bytes);

}  // namespace pando::split
