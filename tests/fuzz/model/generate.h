// Random modules of the model level, written as users write them: through the builder, with aliases, in-place ops, calls, repeats,
// conditionals, by-reference inputs, replicas.
//
// The rows of the op table say what there is: an op's attributes come from its row's samples, its operands from what the graph holds, and
// what the row's type rule rejects is not added. Data are small integers, whatever their type, so that most results are exact.
#pragma once

#include "ir/construction/builder.h"

#include <cstdint>
#include <map>
#include <memory>

namespace pando::fuzz {

struct ModelLimits {
  std::uint64_t ops = 30, graphs = 3, most_elements = 200;
  // Only ops whose results are exact for small integers, whatever the order of their sums.
  bool exact = true;
  std::int64_t most_replicas = 1;
  // Some graphs are called with their gradient graphs.
  bool gradients = false;
  // Views and updates in place of few tensors, all of which are looked at in the end.
  bool aliases = false;
};

// What a case of this number is to try: exact ones and others, replicas, gradients, aliases.
ModelLimits limits_of(std::uint64_t seed);

struct ModelCase {
  std::unique_ptr<ir::Builder> builder;
  // (slices, replicas, shape) for each stream to the device.
  std::map<ir::HostStreamId, ir::HostTensor> inputs;
  // How often each stream to the host is stored in a run.
  std::map<ir::HostStreamId, std::int64_t> outputs;
};

ModelCase generate_model(std::uint64_t seed, const ModelLimits& limits);

}  // namespace pando::fuzz
