// How one program of one device is distributed over many (transform/distribute/parallelise.h).
#pragma once

#include "schedule/table.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pando::transform {

enum class Recompute : std::uint8_t {
  none,
  // Attention alone: everything from one product of two activations to the next. It is large, and quick to compute.
  selective,
  // All of a layer, from what other layers gave it.
  full,
};

struct Strategy {
  std::int32_t data = 1, tensor = 1, pipeline = 1, microbatches = 1;
  // Further axes along which samples (expert) and positions (context) are cut.
  std::int32_t expert = 1, context = 1;
  std::int32_t first_device = 1;
  // Axes whose neighbours have the nearest device numbers, the nearest last: data, expert, context, tensor, pipeline. Those that are not
  // named lie outside, in this order.
  std::vector<std::string> order;

  // --- pipeline
  // By name (schedule/generate.h), or the table itself.
  std::string schedule = "1F1B";
  std::optional<schedule::Table> table;
  std::int32_t stages_per_rank = 1;
  // How many layers each stage has; empty: as even as the cost of their ops allows.
  std::vector<std::uint32_t> layers_per_stage;

  // --- tensor
  // Input by name: the dimension that is cut over the tensor axis, -1: none. One * in a name stands for any text. Others are found: a
  // matmul by a weight is cut by columns where its operand is whole, by rows where it is cut already.
  std::map<std::string, std::int32_t> cut;
  // Between matmuls, positions are cut over the tensor axis (reduce-scatter and all-gather instead of all-reduce).
  bool sequence_parallel = false;

  // --- ZeRO over the data axis. 1: states of the optimizer are cut. 2: gradients, too, and each microbatch's are. 3: weights, too; they
  // are gathered where they are used.
  std::int32_t zero = 0;

  // --- activations that the backward pass computes again instead of keeping them, in these layers (empty: in all)
  Recompute recompute = Recompute::none;
  std::vector<std::uint32_t> recomputed_layers;

  // --- what lies in off-chip memory (rows of remote buffers) and comes when it is used: weights for each pass, states of the optimizer for
  // the update, activations from their last use in the forward pass to their first in the backward pass
  bool offload_weights = false, offload_optimizer = false, offload_activations = false;

  // Outputs of microbatches are joined, gradients begin with a copy: the order of ops of the DistIR reference.
  bool join_outputs = false;
  // Verify the result.
  bool verify = true;

  std::int64_t devices() const { return std::int64_t{data} * tensor * pipeline * expert * context; }
};

}  // namespace pando::transform
