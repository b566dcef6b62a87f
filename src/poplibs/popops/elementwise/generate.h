// From an expression's graph to the source of a codelet that computes it.
#pragma once

#include <poplar/Graph.hpp>

#include <string>
#include <vector>

#include "dag.h"

namespace popops::internal {

struct GeneratedOperand {
  poplar::Type type;
  bool used = false;
  int in_place = -1;    // the result whose elements it shares
  bool scalar = false;  // one element for all
};

struct GeneratedCodelet {
  std::string vertex;  // "popops::map::Fused_..."
  std::string source;
  bool calls_kernels = false;
};

// Fields: inK, a vector of rows, for operand K (one row of one element if it is scalar); outR for result R, which is an InOut if an operand
// shares its elements. The name depends on the source.
GeneratedCodelet generate_codelet(const Dag& dag, const std::vector<GeneratedOperand>& operands);

// Adds the codelet to the graph unless it is there.
void add_generated(poplar::Graph& graph, const GeneratedCodelet& codelet);

}  // namespace popops::internal
