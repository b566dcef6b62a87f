#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

namespace poplin::conv {

// to += scale * deltas, in float. The scale has one element.
void add_scaled(poplar::Graph& graph, const poplar::Tensor& to, const poplar::Tensor& deltas, const poplar::Tensor& scale,
                poplar::program::Sequence& prog, const poplar::DebugContext& context);
poplar::Tensor scale_of(poplar::Graph& graph, float scale);

}  // namespace poplin::conv
