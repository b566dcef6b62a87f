#include <fmt/format.h>

#include "graph/graph.h"
#include "graph/text/print_parts.h"

namespace pando::graph {

namespace {

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, std::optional<TileId> only) : graph_(graph), only_(only) {}

  std::string print(std::span<const ProgramPtr> programs) {
    const Machine& m = graph_.machine();
    add("graph for {}: {} IPU{} of {} tiles, {} replica{}\n", m.name, m.ipus, m.ipus == 1 ? "" : "s", m.tiles_per_ipu,
        graph_.replication_factor(), graph_.replication_factor() == 1 ? "" : "s");
    if (only_) add("only tile {}\n", only_->value);
    variables("variables", false);
    variables("constants", true);
    compute_sets();
    host();
    groups();
    for (std::uint32_t i = 0; i < graph_.functions().size(); ++i) {
      const Function& f = graph_.functions()[FunctionId(i)];
      add("\nfunction f{} {}{}\n", i, quoted(f.name), f.in_streaming_memory ? " in Streaming Memory" : "");
      print_program(graph_, f.body, 1, out_);
    }
    for (std::size_t i = 0; i < programs.size(); ++i) {
      add("\nprogram {}\n", i);
      print_program(graph_, programs[i], 1, out_);
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  // Prints a title before the first line of a section.
  void entry(const char*& title) {
    if (title) add("\n{}\n", title);
    title = nullptr;
  }

  void variables(const char* title, bool constants) {
    for (std::uint32_t i = 0; i < graph_.variables().size(); ++i) {
      const Variable& v = graph_.variables()[VariableId(i)];
      std::string mapping;
      if (v.constant != constants || !mapping_text(v, mapping)) continue;
      entry(title);
      add("  v{} {} {} {}: {}", i, quoted(v.name), name_of(v.type), to_string(v.shape), mapping);
      add("{}", on_each(v.replication));
      if (v.replica_of.valid()) add(", replica {}'s v{}", v.replica, v.replica_of.value);
      if (v.replica_index)
        add(" = the replica's index");
      else if (!v.initial.empty())
        add(" = {}", text_of_values(v.initial, v.type));
      out_ += '\n';
    }
  }

  // Of a replicated graph within this one.
  std::string on_each(ReplicationId replication) const {
    return replication.valid() ? fmt::format(", on each of {} replicas", graph_.replications()[replication].factor) : std::string();
  }

  // With `only_`, the elements on that tile; false if there are none.
  bool mapping_text(const Variable& v, std::string& text) const {
    if (!only_) {
      text = text_of(v.mapping, v.elements);
      return true;
    }
    for (const MappedInterval& m : v.mapping.intervals())
      if (m.tile == *only_) text += fmt::format("{}[{},{})", text.empty() ? "" : " ", m.elements.begin, m.elements.end);
    return !text.empty();
  }

  void compute_sets() {
    for (std::uint32_t i = 0; i < graph_.compute_sets().size(); ++i) {
      const ComputeSet& cs = graph_.compute_sets()[ComputeSetId(i)];
      add("\ncompute set cs{} {}\n", i, quoted(cs.name));
      for (VertexId v : cs.vertices)
        if (!only_ || graph_.vertices()[v].tile == *only_) vertex(v);
    }
  }

  void vertex(VertexId id) {
    const Vertex& v = graph_.vertices()[id];
    const Codelet& codelet = graph_.library()[v.codelet];
    add("  x{} {} on {}:", id.value, codelet.name, v.tile.valid() ? fmt::format("tile {}", v.tile.value) : "no tile");
    std::size_t edge = 0, state = 0;
    const char* separator = " ";
    for (std::size_t f = 0; f < codelet.fields.size(); ++f) {
      const Field& field = codelet.fields[f];
      if (field.is_edge()) {
        out_ += separator + field_text(field, v.edges[edge++]);
        separator = ", ";
      } else if (state < v.state.size() && v.state[state].field == f) {
        add("{}{} = {}", separator, field.name, text_of_values(v.state[state++].bytes, field.type));
        separator = ", ";
      }
    }
    out_ += on_each(v.replication);
    if (v.estimate) add("; {} cycles", v.estimate->cycles);
    out_ += '\n';
  }

  std::string field_text(const Field& field, const Edge& edge) const {
    constexpr const char* kKinds[] = {"", "in", "out", "inout"};
    std::string text = fmt::format("{} {} ", kKinds[static_cast<int>(field.kind)], field.name);
    const bool rows = field.has_rows();
    if (!rows) return text + (edge.rows.empty() ? "unconnected" : text_of_row(graph_, edge.rows[0]));
    if (edge.rows.empty() && !edge.connected) return text + "unconnected";
    std::string list;
    for (const View& row : edge.rows) list += (list.empty() ? "" : "; ") + text_of_row(graph_, row);
    return text + "{" + list + "}";
  }

  void host() {
    const char* title = "host";
    for (const Fifo& f : graph_.fifos()) {
      entry(title);
      add("  stream {} to {}: {} {}", quoted(f.handle), f.to_device ? "device" : "host", f.elements, name_of(f.type));
      if (f.mode == ReplicatedFifo::broadcast) add(", broadcast");
      if (f.buffering_depth != 1) add(", depth {}", f.buffering_depth);
      out_ += on_each(f.replication);
      out_ += '\n';
    }
    for (const RemoteBuffer& b : graph_.remote_buffers()) {
      entry(title);
      add("  remote buffer {}: {} rows of {} {}{}\n", quoted(b.handle), b.repeats, b.elements, name_of(b.type), on_each(b.replication));
    }
    for (const HostFunction& f : graph_.host_functions()) {
      entry(title);
      add("  function {}: ({}) -> ({}){}\n", quoted(f.handle), arguments(f.inputs), arguments(f.outputs), on_each(f.replication));
    }
    for (const HostHandle& h : graph_.host_handles()) {
      entry(title);
      add("  handle {}: {}{}\n", quoted(h.name),
          h.readable && h.writable ? "read and write "
          : h.readable             ? "read "
                                   : "write ",
          text_of(graph_, h.tensor));
    }
    for (const Channel& c : graph_.channels()) {
      entry(title);
      add("  channel {}: blocks of {} {}, capacity {}\n", quoted(c.name), c.elements, name_of(c.type), c.capacity);
    }
    for (const auto& [name, bytes] : graph_.images) {
      entry(title);
      add("  image {}: {} bytes\n", quoted(name), bytes.size());
    }
  }

  static std::string arguments(const std::vector<std::pair<ElementType, std::uint64_t>>& list) {
    std::string text;
    for (const auto& [type, n] : list) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, name_of(type));
    return text;
  }

  void groups() {
    const std::vector<std::optional<bool>>& set = graph_.tile_groups();
    const char* title = "tile groups";
    for (std::size_t i = 0; i < set.size();) {
      std::size_t j = i + 1;
      while (j < set.size() && set[j] == set[i]) ++j;
      if (set[i]) {
        entry(title);
        add("  {}: {}\n", j - i == 1 ? fmt::format("tile {}", i) : fmt::format("tiles {}..{}", i, j - 1), *set[i] ? "IO" : "compute");
      }
      i = j;
    }
  }

  const Graph& graph_;
  std::optional<TileId> only_;
  std::string out_;
};

}  // namespace

std::string print(const Graph& graph, std::span<const ProgramPtr> programs, std::optional<TileId> only_tile) {
  return GraphPrinter(graph, only_tile).print(programs);
}

}  // namespace pando::graph
