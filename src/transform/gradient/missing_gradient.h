// Why a required gradient does not exist: which op ends the path, and where it stands.
#pragma once

#include "transform/gradient/gradient_graph.h"

#include <span>
#include <string>

namespace pando::transform {

// Of a value of the forward graph for which `g` has no gradient: "its element type is int32", or which op of the graph is the last on the
// way from it to a provided gradient.
std::string why_missing(const GradientGraph& g, ir::GraphId forward, std::span<const ir::ValueId> provided, ir::ValueId v);

}  // namespace pando::transform
