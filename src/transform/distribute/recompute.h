// Which activations are computed again in the backward pass.
#pragma once

#include "transform/distribute/layout/layout.h"

#include <vector>

namespace pando::transform {

// By value. What other layers take, and what leaves the program, is kept.
std::vector<bool> recomputed_values(const Program& program, const Strategy& strategy, const Layout& layout);

}  // namespace pando::transform
