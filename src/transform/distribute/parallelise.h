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

#include "transform/distribute/layout/program.h"
#include "transform/distribute/layout/strategy.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pando::transform {

struct Layout;

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

// The strategy's schedule. Rejects (value) one that is for others, or breaks a rule; (poplar_error) a name that is none.
schedule::Table table_of(const Strategy& strategy);

// Rejects (value): degrees that do not divide, a schedule that does not fit, a value of the whole batch inside microbatches, a program
// whose values lie on several devices.
Distributed parallelise(const Program& program, const Strategy& strategy);

// For estimates, what is written of a program over devices.
struct Excerpt {
  // The first of the strategy's microbatches, each as large as it is, with a schedule of so many.
  std::int32_t microbatches = 1;
  // The ops of the first device of each pipeline rank alone, without the data of variables. Collectives and their results are those of all
  // devices; the first one's operand stands for everybody's.
  bool first_rank = false;
  // What lay_out() makes of the program and the strategy; null: it is made.
  const Layout* layout = nullptr;
};
// What comes out is not verified.
Distributed parallelise_some(const Program& program, const Strategy& strategy, const Excerpt& excerpt);

// What the distributed program takes for the inputs of the sequential one.
std::vector<ir::HostValue> cut_inputs(const Distributed& d, const std::vector<ir::HostTensor>& whole_tensors);
// A sequential output (or input) from its pieces; parts[first_part + i] is part i.
ir::HostTensor join(const std::vector<Piece>& pieces, std::uint32_t whole, const ir::Type& type, const std::vector<ir::HostValue>& parts,
                    std::size_t first_part = 0);

}  // namespace pando::transform
