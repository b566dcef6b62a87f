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
  // All of a layer but for attention and every other product: a prediction alone.
  alternate,
};
// Transfers of tensor parallelism beside the products that they feed or follow: none; a ring of `tensor` parts, of which one stands alone;
// two halves. What is longer than the product is seen.
enum class TensorOverlap : std::uint8_t { none, ring, pipe };
// Of products with weights in layers: bfloat16; 8-bit floats with a scale for each tensor; with a scale for each block (MXFP8).
enum class Precision : std::uint8_t { bf16, fp8, mxfp8 };

// What predictions of a transformer's step say beside (search/estimate.h): search::transforms_of says it as a program has it, or what is
// missing for that. No program is made of it as it stands.
struct Predicted {
  // Samples of a microbatch.
  std::int64_t microbatch = 1;
  // So many of the data x context devices share the experts, as trainers have it; Strategy::expert is an axis of its own.
  std::int32_t expert_in_data = 1;
  // Only so many layers of each stage, the first ones, compute again; 0: all. A rank with several stages has so many of each.
  std::int64_t recompute_first = 0;
  // Stages have as many layers as makes the slowest as quick as can be: the head and the loss weigh, too. Otherwise as many each; where
  // layers do not divide, the first stages and the last have one less.
  bool weighed = false;
  // An all-reduce as a reduce-scatter and an all-gather with whole tensors between them.
  bool split_all_reduce = false;
  // Sequence parallel: gather a layer's input again on the way back instead of keeping it whole.
  bool regather = false;
  TensorOverlap tensor_overlap = TensorOverlap::none;
  // Gradients are reduced beside the last backward pass.
  bool data_overlap = false;
  Precision precision = Precision::bf16;
  // No rank waits with its update for the norm of all gradients: it is looked at afterwards, and a wrong update is taken back. Otherwise
  // the last one to end its backward passes holds up all.
  bool post_validation = false;
  // Which level of the network each kind of parallelism uses; -1: the narrowest that holds it, tensor innermost, then context, data,
  // pipeline.
  std::int8_t tensor_level = -1, pipeline_level = -1, data_level = -1;

  friend bool operator==(const Predicted&, const Predicted&) = default;
};

struct Strategy : Predicted {
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
  friend bool operator==(const Strategy&, const Strategy&) = default;
};

}  // namespace pando::transform
