// How a view's elements follow each other in memory, so that vertices read what is there instead of having it rearranged.
#pragma once

#include "kernels/conv/conv.h"
#include "poplibs/poplin/conv/terms/line.h"

#include <poplar/Tensor.hpp>

#include <vector>

namespace poplin::conv {

struct Arrangement {
  int order = kChannelsLast;         // ConvOrder
  std::vector<std::int64_t> bounds;  // of the channels: where a new piece of memory begins; from 0 to all of them
};

// Of a view {groups, batch, lines..., channels}.
Arrangement arrangement_of_activations(const poplar::Tensor& view);
// Of a view {groups, lines..., in, out}.
Arrangement arrangement_of_weights(const poplar::Tensor& view);

// The pieces of memory that the channels `range` lie in; all as one if they are too many.
std::vector<Range> pieces_of(const Arrangement& arrangement, Range range);

}  // namespace poplin::conv
