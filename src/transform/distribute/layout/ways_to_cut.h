// In which ways weights can be cut over the tensor axis: the values of the axis `cut` that a space has.
#pragma once

#include "transform/distribute/layout/program.h"
#include "transform/distribute/layout/strategy.h"

#include <cstdint>
#include <vector>

namespace pando::transform {

// All that can be said of one up to `most` weights. What leads to a layout that is there already, with fewer weights or earlier names, is
// left out; so is what does not divide. Rejects (poplar_error) more than a hundred thousand ways.
std::vector<decltype(Strategy::cut)> ways_to_cut(const Program& program, std::int32_t tensor, std::int32_t most);

}  // namespace pando::transform
