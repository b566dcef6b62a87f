#include "facade/engine/graph_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "codelet/defined_at.h"

namespace pando::facade {

namespace {

// Where elements lie: packed by tile, as the compiler lays variables out.
class Places {
 public:
  explicit Places(const graph::Graph& graph) : graph_(graph), packed_(graph.variables().size()) {}

  struct Place {
    TileId tile;
    std::uint64_t packed = 0;  // elements of the variable before this one on the tile
    std::uint64_t left = 0;    // elements from here on that follow each other there
  };
  // Invalid tile: not mapped.
  Place of(VariableId v, std::uint64_t element) {
    const std::vector<graph::MappedInterval>& list = graph_.variables()[v].mapping.intervals();
    const auto after =
        std::upper_bound(list.begin(), list.end(), element, [](std::uint64_t e, const auto& i) { return e < i.elements.begin; });
    if (after == list.begin() || element >= std::prev(after)->elements.end) return {{}, 0, 1};
    const auto index = static_cast<std::size_t>(std::prev(after) - list.begin());
    const graph::MappedInterval& i = list[index];
    return {i.tile, packed(v, list)[index] + (element - i.elements.begin), i.elements.end - element};
  }

 private:
  const std::vector<std::uint64_t>& packed(VariableId v, const std::vector<graph::MappedInterval>& list) {
    std::vector<std::uint64_t>& begins = packed_[v.index()];
    if (!begins.empty()) return begins;
    std::map<TileId, std::uint64_t> filled;
    for (const graph::MappedInterval& i : list) {
      begins.push_back(filled[i.tile]);
      filled[i.tile] += i.elements.size();
    }
    return begins;
  }

  const graph::Graph& graph_;
  std::vector<std::vector<std::uint64_t>> packed_;  // [variable][interval]
};

// One operand: how many contiguous pieces on how many tiles.
struct Pieces {
  std::uint64_t pieces = 0, remote = 0;  // remote: elements on other tiles
  std::vector<VariableId> variables;
};

Pieces pieces_of(const graph::View& row, TileId tile, Places& places) {
  Pieces out;
  VariableId variable;
  TileId last;
  std::uint64_t next = 0;
  row.for_each_run([&](const graph::Run& run) {
    if (std::find(out.variables.begin(), out.variables.end(), run.variable) == out.variables.end()) out.variables.push_back(run.variable);
    for (std::uint64_t i = 0; i < run.count;) {
      const std::uint64_t element = run.offset + static_cast<std::uint64_t>(run.stride * static_cast<std::int64_t>(i));
      const Places::Place p = places.of(run.variable, element);
      const std::uint64_t n = run.stride == 1 ? std::min(p.left, run.count - i) : 1;
      if (out.pieces == 0 || run.variable != variable || p.tile != last || p.packed != next) ++out.pieces;
      variable = run.variable;
      last = p.tile;
      next = p.packed + n;
      if (p.tile != tile) out.remote += n;
      i += n;
    }
  });
  return out;
}

using Key = std::tuple<std::uint32_t, std::string, std::string, std::string>;  // compute set, codelet, field, variable
struct Found {
  profile::BufferCause cause;
  std::set<TileId> tiles;
};

std::string names_of(const graph::Graph& graph, const std::vector<VariableId>& variables) {
  const std::string& name = graph.variables()[variables[0]].name;
  const std::string first = name.empty() ? "v" + std::to_string(variables[0].value) : name;
  return variables.size() == 1 ? first : fmt::format("{} and {} more", first, variables.size() - 1);
}

// Returns the bytes of its operands.
std::uint64_t add_vertex(const graph::Graph& graph, const graph::Vertex& vertex, Places& places, std::map<Key, Found>& found) {
  const Codelet& codelet = graph.library()[vertex.codelet];
  std::uint64_t bytes = 0;
  for (const graph::Edge& edge : vertex.edges)
    for (const graph::View& row : edge.rows) {
      if (!row.valid() || row.num_elements() == 0) continue;
      bytes += row.num_elements() * size_of(row.type());
      const Pieces p = pieces_of(row, vertex.tile, places);
      if (p.pieces <= 1 && p.remote == 0) continue;
      const std::uint64_t width = size_of(row.type());
      const std::string& field = codelet.fields[edge.field].name;
      Found& f = found[Key(vertex.compute_set.value, codelet.name, field, names_of(graph, p.variables))];
      f.tiles.insert(vertex.tile);
      ++f.cause.buffers;
      f.cause.pieces += p.pieces;
      f.cause.bytes += row.num_elements() * width;
      f.cause.remote_bytes += p.remote * width;
    }
  return bytes;
}

// By compute set and codelet; and where the codelets are defined.
class WorkSums {
 public:
  void add(const graph::Vertex& v, std::uint64_t operand_bytes) {
    GraphFacts::Work& work = sums_[{v.compute_set, v.codelet}];
    work.operand_bytes += operand_bytes;
    if (v.estimate) work.flops += v.estimate->flops;
  }
  void finish(const Library& library, GraphFacts& out) const {
    for (const auto& [key, work] : sums_) {
      const Codelet& codelet = library[key.second];
      out.flops[key.first] += work.flops;
      out.work[{key.first, codelet.name}] = work;
      if (std::optional<DefinedAt> at = defined_at(library, key.second)) out.codelets[codelet.name] = {std::move(at->file), at->line};
    }
  }

 private:
  std::map<std::pair<ComputeSetId, CodeletId>, GraphFacts::Work> sums_;
};

profile::Source source_of(const graph::Graph& graph, std::uint32_t site) {
  const graph::SourceLine at = graph.site(site);
  return {at.file, at.line};
}

// Rows of sources in the report, from 1.
class SourceRows {
 public:
  explicit SourceRows(profile::Report& report) : report_(report) {}
  std::uint32_t of(const profile::Source& source) {
    const auto [row, added] = rows_.try_emplace({source.file, source.line}, static_cast<std::uint32_t>(report_.sources.size()) + 1);
    if (added) report_.sources.push_back(source);
    return row->second;
  }
  template <class Key>
  std::uint32_t of(const std::map<Key, profile::Source>& sources, const Key& key) {
    const auto it = sources.find(key);
    return it == sources.end() ? 0 : of(it->second);
  }

 private:
  profile::Report& report_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> rows_;
};

}  // namespace

GraphFacts graph_facts(const poplar::core::GraphShared& shared, const graph::Graph& compiled, const compile::Result& result) {
  constexpr std::size_t kMostCauses = 100'000;
  GraphFacts out;
  Places places(compiled);
  std::map<Key, Found> found;
  WorkSums work;
  for (const graph::Vertex& v : compiled.vertices()) work.add(v, add_vertex(compiled, v, places, found));
  work.finish(compiled.library(), out);
  for (auto& [key, f] : found) {
    f.cause.codelet = std::get<1>(key);
    f.cause.field = std::get<2>(key);
    f.cause.variable = std::get<3>(key);
    f.cause.tiles = static_cast<std::uint32_t>(f.tiles.size());
    out.causes.push_back({ComputeSetId(std::get<0>(key)), std::move(f.cause)});
  }
  std::stable_sort(out.causes.begin(), out.causes.end(), [](const auto& a, const auto& b) { return a.cause.bytes > b.cause.bytes; });
  if (out.causes.size() > kMostCauses) out.causes.resize(kMostCauses);
  for (const auto& [variable, site] : shared.variable_sites)
    out.by_name.emplace(shared.graph.variables()[VariableId(variable)].name, source_of(shared.graph, site));
  for (std::uint32_t i = 0; i < result.name_lines.size(); ++i)
    if (result.name_lines[i] > 0) out.names.emplace(tile::NameId(i), source_of(shared.graph, result.name_lines[i]));
  for (const auto& [name, lines] : result.other_lines)
    for (const std::uint32_t line : lines) out.other_names[name].push_back(source_of(shared.graph, line));
  for (const auto& [compute_set, site] : shared.compute_set_sites)
    out.compute_sets.emplace(ComputeSetId(compute_set), source_of(shared.graph, site));
  return out;
}

void add_graph_facts(const GraphFacts& facts, const cycles::RowsOf& of, profile::Report& report) {
  SourceRows sources(report);
  std::map<ComputeSetId, std::uint32_t> rows;
  for (std::uint32_t i = 0; i < report.compute_sets.size(); ++i) {
    profile::ComputeSetVertices& cs = report.compute_sets[i];
    rows.emplace(of.compute_sets[i], i);
    if (const auto it = facts.flops.find(of.compute_sets[i]); it != facts.flops.end()) cs.flops = it->second;
    cs.source = sources.of(facts.compute_sets, of.compute_sets[i]);
    for (profile::CodeletVertices& c : cs.codelets)
      if (const auto it = facts.work.find({of.compute_sets[i], c.codelet}); it != facts.work.end())
        c.flops = it->second.flops, c.operand_bytes = it->second.operand_bytes;
  }
  for (const auto& [codelet, source] : facts.codelets) report.codelet_sources.emplace(codelet, sources.of(source));
  for (const GraphFacts::Cause& c : facts.causes) {
    const auto row = rows.find(c.compute_set);
    if (row == rows.end()) continue;  // no program executes it
    report.buffers.push_back(c.cause);
    report.buffers.back().compute_set = row->second;
  }
  for (std::size_t i = 0; i < report.residents.size(); ++i) {
    profile::Resident& r = report.residents[i];
    r.source = sources.of(facts.names, of.residents[i]);
    if (r.source == 0) r.source = sources.of(facts.by_name, r.name);
  }
  for (std::size_t i = 0; i < report.program.size(); ++i) {
    profile::ProgramStep& s = report.program[i];
    s.source = s.compute_set > 0 ? report.compute_sets[s.compute_set - 1].source : sources.of(facts.names, of.program[i]);
    if (const auto it = facts.other_names.find(of.program[i]); it != facts.other_names.end())
      for (const profile::Source& other : it->second) s.other_sources.push_back(sources.of(other));
  }
}

std::shared_ptr<const graph::SourceLine> source_line(const poplar::DebugContext& context, const poplar::core::GraphShared* shared) {
  const poplar::SourceLocation& at = context.getSourceLocation();
  if (at.isValid() && at.getFileName())
    return std::make_shared<const graph::SourceLine>(graph::SourceLine{at.getFileName(), at.getLineNumber()});
  if (shared == nullptr || shared->site == 0) return nullptr;
  return std::make_shared<const graph::SourceLine>(shared->graph.site(shared->site));
}

void add_work(profile::Report& report) {
  std::map<std::uint32_t, std::uint32_t> compute_sets;  // by order
  for (const profile::ProgramStep& s : report.program)
    if (s.compute_set > 0) compute_sets.emplace(s.order, s.compute_set - 1);
  std::map<std::uint32_t, std::uint64_t> executions;  // by order: streams execute a step together
  for (profile::StepCycles& s : report.steps) {
    const auto it = compute_sets.find(s.order);
    if (it == compute_sets.end() || s.kind != "compute") continue;
    s.flops = report.compute_sets[it->second].flops * s.executions;
    executions[s.order] = std::max(executions[s.order], s.executions);
  }
  std::map<std::string, profile::CodeletCycles*> codelets;
  for (profile::CodeletCycles& c : report.codelets) codelets.emplace(c.codelet, &c);
  for (const auto& [order, times] : executions)
    for (const profile::CodeletVertices& c : report.compute_sets[compute_sets.at(order)].codelets) {
      const auto it = codelets.find(c.codelet);
      if (it == codelets.end()) continue;
      it->second->flops += c.flops * times;
      it->second->operand_bytes += c.operand_bytes * times;
    }
}

void keep_site(poplar::core::GraphShared& shared, std::map<std::uint32_t, std::uint32_t>& sites, std::uint32_t id,
               const poplar::DebugContext& context) {
  const poplar::SourceLocation& at = context.getSourceLocation();
  const std::uint32_t site = at.isValid() && at.getFileName() ? shared.graph.call_site(at.getFileName(), at.getLineNumber()) : shared.site;
  if (site != 0) sites.emplace(id, site);
}

}  // namespace pando::facade
