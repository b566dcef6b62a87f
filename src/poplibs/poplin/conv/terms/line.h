// The lines of convolutions as callers state them (planning/line.h).
#pragma once

#include <poplin/ConvParams.hpp>

#include <vector>

#include "planning/line.h"

namespace poplin::conv {

using pando::planning::input_range;
using pando::planning::Line;
using pando::planning::meetings;
using pando::planning::part;
using pando::planning::part_of;
using pando::planning::Range;

// Transforms of either operand, of the output, and the swapped roles of a kernel that is larger than its input all come down to a line's
// numbers.
Line line_of(const ConvParams& params, unsigned dim);
std::vector<Line> lines_of(const ConvParams& params);

}  // namespace poplin::conv
