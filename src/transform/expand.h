// Ops in terms of other ops.
#pragma once

#include "ir/module.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace pando::transform {

// Replaces every op whose row says what it means in terms of other ops (layer_norm, add_n) by those, until none is left; how many were
// replaced. `keeps`: ops that stay whole, because whoever comes next has a lowering of its own for their rows.
// What an op computes does not change but for the rounding that its expansion has.
std::size_t expand(ir::Module& module, bool (*keeps)(const ir::OpRow& row) = nullptr);

// Replaces n-ary sums by two-operand ones, each as early as its operands are there: so no more than two of the summands need to be alive.
// Sums are taken in the order in which the summands are made. Returns each sum that was replaced, with the value that is it now.
std::vector<std::pair<ir::ValueId, ir::ValueId>> decompose_sum(ir::Module& module, ir::GraphId graph);

}  // namespace pando::transform
