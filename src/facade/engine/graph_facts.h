// What the graph says and the compiled program does not, for reports: why operands need exchange buffers, how many floating-point
// operations a compute set has, and the lines of the user's program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "facade/state.h"
#include "graph/graph.h"
#include "profile/report.h"

namespace pando::facade {

struct GraphFacts {
  struct Cause {
    std::string compute_set;
    profile::BufferCause cause;  // without its compute set's row
  };
  std::vector<Cause> causes;                                       // largest first
  std::map<std::string, std::uint64_t> flops;                      // by compute set's name
  std::map<std::string, profile::Source> variables, compute_sets;  // by name: of several the first one's line
};

GraphFacts graph_facts(const poplar::core::GraphShared& shared, const graph::Graph& compiled);

// Puts them where the report's rows of those names are.
void add_graph_facts(const GraphFacts& facts, profile::Report& report);

// Those of executed steps, from their compute sets'.
void add_flops(profile::Report& report);

// The line of a debug context, as Graph::call_site gives it; 0 for lines of Pando's own libraries.
std::uint32_t user_site(graph::Graph& graph, const poplar::DebugContext& context);

}  // namespace pando::facade
