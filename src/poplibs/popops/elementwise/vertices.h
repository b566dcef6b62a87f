// From an expression's graph over tensors to the vertices of one compute set.
#pragma once

#include <poplar/DebugContext.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <vector>

#include "dag.h"
#include "map_options.h"

namespace popops::internal {

struct WorkOperand {
  poplar::Type type;
  poplar::Tensor tensor;  // invalid if the graph does not need it
  int in_place = -1;      // the output that it is
};

struct MapWork {
  const Dag* dag = nullptr;
  std::vector<WorkOperand> operands;
  std::vector<poplar::Tensor> outs;  // one per result of the graph, of one shape
};

// Is the graph compiled to a codelet of its own, or evaluated in blocks? The rule and what was measured: docs/notes/fused_expressions.md.
// Blocks cost nothing before the first run and stay close to compiled code, which costs a compilation per expression: so only when told to.
bool is_compiled(const Dag& dag, const MapOptions& options);

void add_vertices(poplar::Graph& graph, const MapWork& work, const MapOptions& options, poplar::program::Sequence& prog,
                  const poplar::DebugContext& context);

}  // namespace popops::internal
