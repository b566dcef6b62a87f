// What a graph puts on each tile for as long as a program is loaded: an estimate that grows with the graph. A variable is looked at once it
// is mapped, a vertex too; what is mapped again later counts where it was.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace pando::graph {

class Residents {
 public:
  // Bytes by tile of the machine, with what was added since the last call.
  std::span<const std::uint64_t> bytes(const Graph& graph);
  // From now on the variable counts in full, not as one that is live for some steps.
  void keep(const Graph& graph, VariableId v);

  bool rotates = true, counts_created = true;

 private:
  bool add(const Graph& graph, VariableId v);
  bool add(const Graph& graph, VertexId v);
  void add_mapping(const Variable& v, std::uint64_t numerator);
  std::uint64_t exchanged(const Graph& graph, const Vertex& v, const Codelet& codelet) const;

  std::vector<std::uint64_t> bytes_;
  std::vector<std::uint8_t> kept_, counted_;         // VariableId
  std::vector<std::vector<std::uint8_t>> has_code_;  // CodeletId, tile
  std::vector<std::uint64_t> stacks_;                // tile
  std::vector<VariableId> unmapped_variables_;
  std::vector<VertexId> unmapped_vertices_;
  std::uint32_t next_variable_ = 0, next_vertex_ = 0;
  std::vector<std::uint32_t> rows_;
};

}  // namespace pando::graph
