// The graph level as data, for programs that read it: what its text says (docs/level/graph.md), in one object.
#pragma once

#include <nlohmann/json.hpp>

#include <span>

#include "graph/graph.h"

namespace pando::facade {

// target, replicationFactor; variables, computeSets, vertices, streams, remoteBuffers, hostFunctions, hostHandles, functions: lists, whose
// places are the numbers that texts and other entries name; programs: of each its steps, a line of the text each.
nlohmann::ordered_json json_of(const graph::Graph& graph, std::span<const graph::ProgramPtr> programs);

}  // namespace pando::facade
