#include "base/error.h"
#include "graph/checks/verify_parts.h"
#include "graph/graph.h"
#include "graph/program_walk.h"

namespace pando::graph {

namespace {

class UsedVariables {
 public:
  explicit UsedVariables(const Graph& graph) : used_(graph.variables().size(), false) {}
  void add(const View& view) {
    if (!view.valid() || view.num_elements() == 0) return;
    Region region;
    if (view.single_region(region)) return mark(region.variable);
    for (VariableId id : view.variables()) mark(id);
  }
  bool contains(std::size_t variable) const { return used_[variable]; }

 private:
  void mark(VariableId id) {
    if (id.index() >= used_.size())
      fail(ErrorKind::graph_connection_error, "foreign-tensor", "a tensor of variable {}; the graph has {}: it belongs to another graph",
           id.value, used_.size());
    used_[id.index()] = true;
  }
  std::vector<bool> used_;
};

std::uint64_t first_unmapped(const Variable& v) {
  std::uint64_t at = 0;
  for (const MappedInterval& m : v.mapping.intervals()) {
    if (m.elements.begin > at) break;
    at = m.elements.end;
  }
  return at;
}

std::string where(const Graph& graph, std::size_t index) {
  const Vertex& v = graph.vertices().raw()[index];
  return fmt::format("vertex {} ({}) of compute set '{}'", index, graph.library()[v.codelet].name,
                     graph.compute_sets()[v.compute_set].name);
}

}  // namespace

void verify_mapping(const Graph& graph, std::span<const ProgramPtr> programs) {
  UsedVariables used(graph);
  for (const Vertex& v : graph.vertices())
    for (const Edge& e : v.edges)
      for (const View& row : e.rows) used.add(row);
  for (const HostHandle& h : graph.host_handles()) used.add(h.tensor);
  ProgramWalk walk;
  auto add = [&](const Program& p) { for_each_operand(p, [&](const View& v) { used.add(v); }); };
  for (const ProgramPtr& p : programs) walk.visit(p, add);
  for (const Function& f : graph.functions()) walk.visit(f.body, add);

  for (std::size_t i = 0; i < graph.variables().size(); ++i) {
    const Variable& v = graph.variables().raw()[i];
    if (!used.contains(i) || v.mapping.complete(v.elements)) continue;
    fail(ErrorKind::invalid_tile_mapping, "unmapped-variable",
         "{} '{}' of type {} and shape {} is used, and element {} of it has no tile mapping", v.constant ? "constant" : "variable", v.name,
         name_of(v.type), to_string(v.shape), first_unmapped(v));
  }
}

void verify_vertices(const Graph& graph) {
  for (std::size_t i = 0; i < graph.vertices().size(); ++i) {
    const Vertex& v = graph.vertices().raw()[i];
    if (!v.tile.valid()) fail(ErrorKind::invalid_tile_mapping, "unmapped-vertex", "{} has no tile mapping", where(graph, i));
    for (const Edge& e : v.edges) {
      const Field& field = graph.library()[v.codelet].fields[e.field];
      for (std::size_t row = 0; row < e.rows.size(); ++row)
        if (!e.rows[row].valid())
          fail(ErrorKind::graph_connection_error, "unconnected-field", "row {} of field '{}' of {} is not connected", row, field.name,
               where(graph, i));
      if (!e.connected)
        fail(ErrorKind::graph_connection_error, "unconnected-field", "field '{}' of {} is not connected", field.name, where(graph, i));
    }
  }
}

void verify(const Graph& graph, std::span<const ProgramPtr> programs) {
  verify_mapping(graph, programs);  // first: it rejects tensors of other graphs
  verify_vertices(graph);
  verify_programs(graph, programs);
  verify_races(graph);
}

}  // namespace pando::graph
