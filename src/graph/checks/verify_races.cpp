// Races in compute sets. Writes are sorted by where they are; two that overlap are an error, of two vertices as of one, so they are
// a list of disjoint spans with one writer each, in which every read is looked up. Reads of variables that the compute
// set does not write are not even listed.
#include <algorithm>

#include "base/error.h"
#include "graph/checks/verify_parts.h"
#include "graph/graph.h"

namespace pando::graph {

namespace {

// A vertex reads or writes elements through a field.
struct FieldAccess {
  Region region;
  VertexId vertex;
  std::uint16_t field = 0;
};

bool by_region(const FieldAccess& a, const FieldAccess& b) {
  return std::tie(a.region, a.vertex, a.field) < std::tie(b.region, b.vertex, b.field);
}

template <class Sink>
void for_each_region(const View& view, Sink sink) {
  Region region;
  if (view.single_region(region)) return sink(region);
  view.for_each_run_in_any_order([&](const Run& run) {
    if (run.stride == 1) return sink(Region{run.variable, {run.offset, run.offset + run.count}});
    std::uint64_t at = run.offset;
    for (std::uint64_t i = 0; i < run.count; ++i, at += static_cast<std::uint64_t>(run.stride)) sink(Region{run.variable, {at, at + 1}});
  });
}

class RaceFinder {
 public:
  explicit RaceFinder(const Graph& graph) : graph_(graph), written_(graph.variables().size(), kNever) {}

  void check(ComputeSetId id) {
    writes_.clear();
    reads_.clear();
    const ComputeSet& cs = graph_.compute_sets()[id];
    for (VertexId v : cs.vertices) collect_writes(v, id.value);
    if (writes_.empty()) return;
    for (VertexId v : cs.vertices) collect_reads(v, id.value);
    sort(writes_);
    sort(reads_);
    check_writes(cs);
    look_up_reads(cs);
  }

 private:
  static constexpr std::uint32_t kNever = ~0u;

  const Field& field_of(VertexId v, std::uint16_t field) const { return graph_.library()[graph_.vertices()[v].codelet].fields[field]; }

  void collect_writes(VertexId v, std::uint32_t stamp) {
    for (const Edge& e : graph_.vertices()[v].edges) {
      if (!field_of(v, e.field).is_written()) continue;
      for (const View& row : e.rows) {
        check_aliases(v, e.field, row);
        for_each_region(row, [&](const Region& r) {
          written_[r.variable.index()] = stamp;
          writes_.push_back({r, v, e.field});
        });
      }
    }
  }

  // Walks of a set of elements may show repeated ones once.
  void check_aliases(VertexId v, std::uint16_t field, const View& row) const {
    Region whole;
    if (row.num_elements() < 2 || row.single_region(whole) || !row.contains_aliases()) return;
    fail(ErrorKind::graph_cycle_error, "output-aliases", "field {}: the tensor of shape {} that is written holds an element twice",
         named({{}, v, field}), to_string(row.shape()));
  }

  void collect_reads(VertexId v, std::uint32_t stamp) {
    for (const Edge& e : graph_.vertices()[v].edges) {
      if (field_of(v, e.field).is_written()) continue;  // InOut: two vertices that read what either writes both write it
      for (const View& row : e.rows) {
        const std::vector<VariableId> ids = row.variables();
        if (std::none_of(ids.begin(), ids.end(), [&](VariableId id) { return written_[id.index()] == stamp; })) continue;
        for_each_region(row, [&](const Region& r) {
          if (written_[r.variable.index()] == stamp) reads_.push_back({r, v, e.field});
        });
      }
    }
  }

  static void sort(std::vector<FieldAccess>& list) {
    if (!std::is_sorted(list.begin(), list.end(), by_region)) std::sort(list.begin(), list.end(), by_region);
  }

  // Two fields of one vertex, too, would write what depends on their order.
  void check_writes(const ComputeSet& cs) const {
    for (std::size_t i = 1; i < writes_.size(); ++i) {
      const FieldAccess &before = writes_[i - 1], &now = writes_[i];
      if (before.region.variable == now.region.variable && before.region.elements.end > now.region.elements.begin)
        race(cs, now, before, "written");
    }
  }

  void look_up_reads(const ComputeSet& cs) {
    std::size_t first = 0;
    for (const FieldAccess& r : reads_) {
      while (first < writes_.size() && std::pair(writes_[first].region.variable, writes_[first].region.elements.end) <=
                                           std::pair(r.region.variable, r.region.elements.begin))
        ++first;
      for (std::size_t i = first; i < writes_.size() && writes_[i].region.variable == r.region.variable &&
                                  writes_[i].region.elements.begin < r.region.elements.end;
           ++i)
        if (writes_[i].vertex != r.vertex) race(cs, r, writes_[i], "read");
    }
  }

  [[noreturn]] void race(const ComputeSet& cs, const FieldAccess& access, const FieldAccess& writer, const char* verb) const {
    const std::uint64_t begin = std::max(access.region.elements.begin, writer.region.elements.begin);
    const std::uint64_t end = std::min(access.region.elements.end, writer.region.elements.end);
    fail(ErrorKind::graph_cycle_error, "compute-set-race",
         "field {}: elements [{}, {}) of variable '{}' are {} here and written by field {} in the same compute set '{}'", named(access),
         begin, end, graph_.variables()[access.region.variable].name, verb, named(writer), cs.name);
  }

  std::string named(const FieldAccess& a) const {
    const Vertex& v = graph_.vertices()[a.vertex];
    const std::string name = fmt::format("{}.{}", graph_.library()[v.codelet].name, field_of(a.vertex, a.field).name);
    const auto edge = std::find_if(v.edges.begin(), v.edges.end(), [&](const Edge& e) { return e.field == a.field; });
    const std::string site = edge == v.edges.end() ? "" : graph_.site_text(edge->site);
    return fmt::format("'{}' of vertex {}{}", name, a.vertex.value, site.empty() ? "" : " (connected at " + site + ")");
  }

  const Graph& graph_;
  std::vector<std::uint32_t> written_;  // per variable: the last compute set that writes it
  std::vector<FieldAccess> writes_, reads_;
};

}  // namespace

void verify_races(const Graph& graph) {
  RaceFinder finder(graph);
  for (std::uint32_t i = 0; i < graph.compute_sets().size(); ++i) finder.check(ComputeSetId(i));
}

}  // namespace pando::graph
