// Gradient graphs of random graphs.
#pragma once

#include "ir/construction/builder.h"
#include "random.h"

#include <optional>
#include <vector>

namespace pando::fuzz {

// Calls a graph in the main graph on these tensors, makes its gradient graph and calls that on random gradients of the outputs; perhaps the
// gradient's gradient, too. What the calls give. Nothing: the graph has no gradient.
std::vector<ir::TensorId> call_with_gradient(ir::Builder& builder, Random& random, ir::GraphId graph,
                                             const std::vector<ir::TensorId>& operands);

}  // namespace pando::fuzz
