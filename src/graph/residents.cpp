#include "graph/residents.h"

#include <algorithm>

namespace pando::graph {

namespace {

// Of a variable that is live for some steps, one in so many bytes counts.
constexpr std::uint64_t kShare = 16;
// As the compiler estimates them (compile/passes/place_memory).
constexpr std::uint64_t kMoveBytes = 8, kWorkerStack = 256, kSupervisorStack = 1024;

TileId tile_of_first(const Graph& graph, const View& row) {
  Region region;
  if (row.num_elements() == 0) return {};
  if (row.single_region(region)) return graph.variables()[region.variable].mapping.tile_of(region.elements.begin);
  TileId tile;
  row.for_each_run(0, 1, [&](const Run& r) { tile = graph.variables()[r.variable].mapping.tile_of(r.offset); });
  return tile;
}

}  // namespace

void Residents::add_mapping(const Variable& v, std::uint64_t numerator) {
  const std::uint64_t size = size_of(v.type);
  for (const MappedInterval& i : v.mapping.intervals())
    bytes_[i.tile.index()] += (i.elements.size() * size * numerator + kShare - 1) / kShare;
}

// False if it is on no tile yet.
bool Residents::add(const Graph& graph, VariableId v) {
  const Variable& variable = graph.variables()[v];
  if (variable.elements == 0 || variable.replica_of.valid()) return true;
  if (variable.mapping.intervals().empty()) return false;
  counted_[v.index()] = 1;
  add_mapping(variable, variable.constant || kept_[v.index()] ? kShare : 1);
  return true;
}

// Bytes of the code that brings operands from other tiles.
std::uint64_t Residents::exchanged(const Graph& graph, const Vertex& v, const Codelet& codelet) const {
  std::uint64_t bytes = 0;
  for (const Edge& e : v.edges) {
    if (codelet.fields[e.field].kind == FieldKind::output) continue;
    for (const View& row : e.rows)
      if (tile_of_first(graph, row) != v.tile) bytes += kMoveBytes;
  }
  return bytes;
}

bool Residents::add(const Graph& graph, VertexId id) {
  const Vertex& v = graph.vertices()[id];
  if (!v.tile.valid()) return false;
  const Codelet& codelet = graph.library()[v.codelet];
  const std::size_t tile = v.tile.index();
  rows_.assign(codelet.fields.size(), 0);
  for (const Edge& e : v.edges)
    if (codelet.fields[e.field].shape >= FieldShape::vector_of_vectors) rows_[e.field] = static_cast<std::uint32_t>(e.rows.size());
  bytes_[tile] += codelet.target_state_bytes(rows_) + exchanged(graph, v, codelet);
  if (v.codelet.index() >= has_code_.size()) has_code_.resize(v.codelet.index() + 1);
  std::vector<std::uint8_t>& has = has_code_[v.codelet.index()];
  has.resize(bytes_.size(), 0);
  if (has[tile]) return true;
  has[tile] = 1;
  const std::uint64_t stack = (codelet.stack_bytes ? codelet.stack_bytes : kWorkerStack) * graph.machine().workers + kSupervisorStack;
  bytes_[tile] += codelet.code_bytes + (stack > stacks_[tile] ? stack - stacks_[tile] : 0);
  stacks_[tile] = std::max(stacks_[tile], stack);
  return true;
}

std::span<const std::uint64_t> Residents::bytes(const Graph& graph) {
  bytes_.resize(graph.machine().tiles(), 0);
  stacks_.resize(bytes_.size(), 0);
  kept_.resize(graph.variables().size(), 0);
  counted_.resize(kept_.size(), 0);
  std::erase_if(unmapped_variables_, [&](VariableId v) { return add(graph, v); });
  std::erase_if(unmapped_vertices_, [&](VertexId v) { return add(graph, v); });
  for (; next_variable_ < graph.variables().size(); ++next_variable_)
    if (!add(graph, VariableId(next_variable_))) unmapped_variables_.push_back(VariableId(next_variable_));
  for (; next_vertex_ < graph.vertices().size(); ++next_vertex_)
    if (!add(graph, VertexId(next_vertex_))) unmapped_vertices_.push_back(VertexId(next_vertex_));
  return bytes_;
}

void Residents::keep(const Graph& graph, VariableId v) {
  bytes(graph);
  if (kept_[v.index()] || graph.variables()[v].constant) return;
  kept_[v.index()] = 1;
  if (counted_[v.index()]) add_mapping(graph.variables()[v], kShare - 1);
}

}  // namespace pando::graph
