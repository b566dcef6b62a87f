// One program of one device as one program of many: data, tensor, expert and context parallel, and pipelines of stages and microbatches,
// in any combination of degrees that divide.
//
//     Program mlp = models::build_mlp({.layers = 8, .width = 512, .batch = 256});
//     Distributed d = parallelise(mlp, {.data = 2, .tensor = 2, .pipeline = 2, .microbatches = 4});
//
// How a value lies on the devices is propagated from the inputs, axis by axis (spec.h; ir/rows/subscripts.h): what is known of batch
// dimensions and weights decides where each op runs in parts and where collectives stand. What is per device is built once and
// instantiated.
//
// Device numbers: first_device + ((((data x experts + expert) x contexts + context) x tensors + tensor) x pipeline ranks + rank), unless
// the strategy has another order of axes.
//
// A host stream that is loaded becomes one for each device that loads, which brings its parts, microbatch by microbatch; what goes to the
// host is stored by the first device that has it.
//
// Weights and states of the optimizer are variables of the devices that hold them, with their part of the sequential variable's data.
#pragma once

#include "schedule/table.h"
#include "transform/distribute/program.h"

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
};

// Where a part of a sequential input or output is.
struct Piece {
  // Which input or output of the sequential program, and of the distributed one.
  std::uint32_t whole = 0, part = 0;
  // First element in each dimension.
  ir::Shape start;
  // Of a stream: which load of a run.
  std::uint32_t load = 0;
};

// Ops of one kind that get operands whole which lie in parts on an axis: what they cost is more than a share of it.
struct RunsWhole {
  std::string op, axis, reason;
  std::uint32_t count = 0;
};

struct Distributed {
  ir::Module module;
  // Copies on other devices are all listed among the inputs; of outputs, one is.
  std::vector<Piece> inputs, outputs;
  // Variables that lie off chip: `part` is a state.
  std::vector<Piece> remote;
  // What each device loads: `whole` and `part` are streams.
  std::vector<Piece> streams;
  // In the order of names.
  std::vector<RunsWhole> whole;
};

// One line for each kind: "2 dropout on whole operands over the data axis: random numbers belong to ...".
std::vector<std::string> to_lines(const std::vector<RunsWhole>& whole);

// The strategy's schedule. Refuses (value) one that is for others, or breaks a rule; (poplar_error) a name that is none.
schedule::Table table_of(const Strategy& strategy);

// Refuses (value): degrees that do not divide, a schedule that does not fit, a value of the whole batch inside microbatches, a program
// whose values lie on several devices.
Distributed parallelise(const Program& program, const Strategy& strategy);
// For estimates: only the first `made` of the strategy's microbatches are written, each as large as it is, with a schedule of so many. What
// comes out is not verified.
Distributed parallelise_some(const Program& program, const Strategy& strategy, std::int32_t made);

// What the distributed program takes for the inputs of the sequential one.
std::vector<ir::HostValue> cut_inputs(const Distributed& d, const std::vector<ir::HostTensor>& wholes);
// A sequential output (or input) from its pieces; parts[first_part + i] is part i.
ir::HostTensor join(const std::vector<Piece>& pieces, std::uint32_t whole, const ir::Type& type, const std::vector<ir::HostValue>& parts,
                    std::size_t first_part = 0);

}  // namespace pando::transform
