// Replicated graphs within a graph. While a program is written, what a replicated graph holds is written down once; before it is
// compiled it becomes one of two things:
//
//   all of the graph is one replicated graph of whole IPUs      a graph of one replica, with as many replicas (Graph::replication_factor)
//   else                                                        a graph of all tiles in which each replica's things stand one by one
//
// In the second form a step over tensors of a replication is that step on each replica; its variables, vertices and constants stand
// once per share of the replication's tiles.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace pando::graph {

struct ExpandedReplicas {
  Graph graph;
  std::vector<ProgramPtr> programs;
  // Each vertex that was added: of which one it is the copy. The first of them has the number of vertices before as its own.
  std::vector<VertexId> copy_of;
};

// Ids of what the graph holds stay valid. Throws graph_replication_error for a thing of the whole graph that names a tensor of each
// replica, and for steps that have no such form: streams, remote buffers, host functions and channels of a replicated graph, and conditions
// that each replica has its own of.
ExpandedReplicas expand_replicas(const Graph& graph, std::span<const ProgramPtr> programs);

}  // namespace pando::graph
