// The parts of verify(), one subject each.
#pragma once

#include <span>

#include "graph/graph.h"

namespace pando::graph {

// Every element of every variable that vertices, host handles, programs or functions use has a tile.
void verify_mapping(const Graph& graph, std::span<const ProgramPtr> programs);
// Every vertex has a tile and operands for all its edges.
void verify_vertices(const Graph& graph);
// In a compute set, an element that is written is written by one vertex, and no other vertex reads it.
void verify_races(const Graph& graph);
// Every step's operands have the right types and sizes; functions exist and do not recur.
void verify_programs(const Graph& graph, std::span<const ProgramPtr> programs);

}  // namespace pando::graph
