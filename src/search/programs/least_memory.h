// What a strategy of a program needs at the least on each device, known before the program over devices is made:
//
//     variables     what lies on the rank's stages all the time: weights, states, inputs of all microbatches
//     activations   what the forward passes make and the backward passes take, of as many microbatches as the schedule holds at once
//     sums          gradients over microbatches, from a stage's second backward pass on
//
// In its most cut layout, where a value has several. What collectives, updates and the ops themselves need beside this is not known before.
#pragma once

#include "schedule/table.h"
#include "transform/distribute/layout/layout.h"

#include <cstdint>
#include <vector>

namespace pando::search {

struct LeastMemory {
  std::int64_t variables = 0, activations = 0, sums = 0;
  // The rank of the pipeline that needs most, and its first device.
  std::int32_t rank = 0, device = 0;
  std::int64_t bytes() const { return variables + activations + sums; }
};

// What backward passes take of the forward passes' activations, layer by layer, of one microbatch.
struct ActivationsOfLayers {
  // By layer: bytes, and the stage that has them; -1: none.
  std::vector<std::int64_t> bytes;
  std::vector<std::int32_t> stage;
  // By stage: its rank; of how many microbatches the schedule holds activations at once; bytes of variables, and of sums of gradients.
  std::vector<std::int32_t> rank, held;
  std::vector<std::int64_t> variables;
};

// Rejects (value) what the stages reject.
ActivationsOfLayers activations_of_layers(const transform::Program& program, const transform::Strategy& strategy,
                                          const transform::Layout& layout, const schedule::Table& table);

// Rejects (value) what the stages reject.
LeastMemory least_memory(const transform::Program& program, const transform::Strategy& strategy, const transform::Layout& layout,
                         const schedule::Table& table);

}  // namespace pando::search
