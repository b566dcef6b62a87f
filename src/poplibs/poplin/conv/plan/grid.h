// The blocks of a plan and where they are.
#pragma once

#include "poplibs/poplin/conv/plan/plan.h"

#include <poplar/Graph.hpp>
#include <poplar/Tensor.hpp>

#include <functional>
#include <vector>

namespace poplin::conv {

struct Block {
  Range groups, batch, out_channels, in_channels;
  std::vector<Range> field;  // of the output
  unsigned tile = 0;
  // Its place among the blocks that share its weights (they differ in batch and field), its inputs, and its outputs.
  std::int64_t among_weights = 0, among_inputs = 0, among_outputs = 0;
};

// Calls f with each block of serial step `step`, in the order of tiles. Empty blocks are left out.
void each_block(const poplar::Graph& graph, const Problem& problem, const Partition& cut, std::int64_t step,
                const std::function<void(const Block&)>& f);

// t[ranges[0]][ranges[1]]...
poplar::Tensor box(const poplar::Tensor& t, const std::vector<Range>& ranges);

// The n-th of `parts` parts of a flattened tensor, in whole multiples of `grain` elements but for its end.
poplar::Tensor share(const poplar::Tensor& t, std::int64_t parts, std::int64_t n, std::int64_t grain);

}  // namespace poplin::conv
