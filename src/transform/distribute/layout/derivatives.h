// Which forward op each op of the backward pass belongs to.
#pragma once

#include "transform/distribute/layout/layout.h"

#include <vector>

namespace pando::transform {

// By op, of which `when` says when it runs: the forward op whose derivative it is part of; none where that cannot be told. It is told from
// what an op takes of the forward pass: of all ops that make or take such a value, it is the last one that the gradients have not passed
// yet.
std::vector<ir::OpId> derivatives_of(const Program& program, const std::vector<When>& when);

}  // namespace pando::transform
