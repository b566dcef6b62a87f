#include "facade/engine/compile_graph.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "facade/engine/compiled_change.h"
#include "facade/engine/graph_facts.h"
#include "facade/state/introspect.h"
#include "graph/replicas.h"
#include "poplar/Graph.hpp"
#include "poplar/exceptions.hpp"

namespace pando::facade {

namespace fs = std::filesystem;
using poplar::core::ExecutableState;
using poplar::core::GraphShared;

namespace {

// For link errors: the first tile with a vertex whose code is not complete.
std::string first_incomplete_tile(const graph::Graph& g) {
  TileId first;
  for (const graph::Vertex& v : g.vertices())
    if (v.tile < first && !g.library()[v.codelet].kernel) first = v.tile;
  return std::to_string(first.valid() ? first.value : 0);
}

profile::GraphInfo graph_info(const graph::Graph& g, std::size_t programs) {
  profile::GraphInfo info;
  info.variables = g.variables().size();
  info.vertices = g.vertices().size();
  info.compute_sets = g.compute_sets().size();
  info.programs = programs;
  for (const graph::Vertex& v : g.vertices())
    for (const graph::Edge& e : v.edges) info.edges += e.rows.size();
  return info;
}

std::optional<TileId> dump_tile(const Machine& machine) {
  const char* text = std::getenv("PANDO_DUMP_TILE");
  if (!text || !*text) return std::nullopt;
  char* end = nullptr;
  const unsigned long tile = std::strtoul(text, &end, 10);
  if (*end) fail(ErrorKind::invalid_option, "dump-tile", "PANDO_DUMP_TILE is '{}'; expected a tile's number", text);
  if (tile >= machine.tiles())
    fail(ErrorKind::index_error, "tile-out-of-range", "PANDO_DUMP_TILE is {}; the graph is for {} tiles", text, machine.tiles());
  return TileId(static_cast<std::uint32_t>(tile));
}

bool dumps(std::string_view level) {
  const char* text = std::getenv("PANDO_DUMP_LEVEL");
  if (!text || !*text) return false;
  const std::string_view asked = text;
  if (asked != "model" && asked != "graph" && asked != "plan" && asked != "tile")
    fail(ErrorKind::invalid_option, "dump-level", "PANDO_DUMP_LEVEL is '{}'; expected model, graph, plan or tile", text);
  return asked == level;
}

// The first dump of a process begins the file, the others are added to it.
void write_dump(const std::string& text) {
  const char* path = std::getenv("PANDO_DUMP_FILE");
  if (!path || !*path) {
    std::cout << text << std::flush;
    return;
  }
  static bool begun = false;
  std::ofstream out(path, begun ? std::ios::app : std::ios::trunc);
  begun = true;
  if (!(out << text)) fail(ErrorKind::file_load_error, "dump-file", "cannot write the dump to '{}'", path);
}

// POPLAR_LOG_LEVEL=DEBUG (or TRACE): a line per pass of the compiler on stderr.
bool logs_passes() {
  const char* level = std::getenv("POPLAR_LOG_LEVEL");
  if (level == nullptr || *level == '\0') return false;
  constexpr std::string_view kLevels[] = {"OFF", "ERR", "WARN", "INFO", "DEBUG", "TRACE"};
  const std::string_view name(level);
  if (std::find(std::begin(kLevels), std::end(kLevels), name) == std::end(kLevels))
    fail(ErrorKind::invalid_option, "log-level", "POPLAR_LOG_LEVEL is '{}'; expected {}", name, fmt::join(kLevels, ", "));
  return name == "DEBUG" || name == "TRACE";
}

std::unique_ptr<ExecutableState> executable_of(const GraphShared& shared, const graph::Graph& graph, compile::Result result,
                                               const EngineSettings& settings, std::size_t programs) {
  auto e = std::make_unique<ExecutableState>();
  e->program = std::move(result.program);
  e->library = graph.library();
  e->target = shared.full_target;
  e->options = settings.flags;
  e->graph_info = graph_info(graph, programs);
  if (result.out_of_memory) e->out_of_memory = result.out_of_memory->message();
  return e;
}

// With `checked`, the graph has checked codelets as long as this is there.
class OtherLibrary {
 public:
  OtherLibrary(graph::Graph& graph, bool checked) : graph_(graph), own_(graph.library()) {
    if (checked) graph_.library() = own_.checked();
  }
  ~OtherLibrary() { graph_.library() = own_; }
  OtherLibrary(const OtherLibrary&) = delete;
  OtherLibrary& operator=(const OtherLibrary&) = delete;

 private:
  graph::Graph& graph_;
  const pando::Library own_;
};

// How to see why a program does not fit.
std::string where_to_look(const std::string& report) {
  if (!report.empty()) return fmt::format("\n`pando report {} --ask why_not_fit` says what to change", report);
  return "\nPOPLAR_ENGINE_OPTIONS='{\"autoReport.all\":\"true\"}' writes a report of it: `pando report profile.pando --ask why_not_fit` "
         "says what to change";
}

// Numbers of the lines that steps were made by: Graph::call_site.
std::function<std::uint32_t(const graph::Program&)> step_sites(GraphShared& shared) {
  return [&shared, known = std::map<std::pair<std::string, std::uint32_t>, std::uint32_t>()](const graph::Program& p) mutable {
    if (!p.source) return 0u;
    std::uint32_t& site = known[{p.source->file, p.source->line}];
    if (site == 0) site = shared.graph.call_site(p.source->file.c_str(), p.source->line);
    return site;
  };
}

// A copy of a vertex has the late values of the one it was made from.
compile::LateValues with_copies(compile::LateValues values, std::size_t vertices, const std::vector<VertexId>& copy_of) {
  for (std::size_t i = 0; i < copy_of.size(); ++i)
    for (auto it = values.lower_bound({copy_of[i], 0}); it != values.end() && it->first.first == copy_of[i]; ++it)
      values[{VertexId(static_cast<std::uint32_t>(vertices + i)), it->first.second}] = it->second;
  return values;
}

}  // namespace

std::unique_ptr<ExecutableState> compile_executable(const poplar::Graph& graph, poplar::ArrayRef<poplar::program::Program> programs,
                                                    const EngineSettings& settings, const poplar::ProgressFunc& progress) {
  GraphShared& shared = Access::shared(graph);
  std::vector<graph::ProgramPtr> nodes = Access::nodes(graph, programs);
  shared.graph.library().link(first_incomplete_tile(shared.graph));
  const OtherLibrary checked(shared.graph, settings.checked);
  const WatchedVariables watched(shared.graph, settings.watch);
  estimate_vertices(shared);
  std::optional<graph::ExpandedReplicas> expanded;
  if (!shared.graph.replications().empty()) {
    expanded = expand_replicas(shared.graph, nodes);
    nodes = expanded->programs;
  }
  const graph::Graph& compiled = expanded ? expanded->graph : shared.graph;
  if (dumps("graph")) write_dump(print(compiled, nodes, dump_tile(compiled.machine())));
  compile::Options options = settings.compile;
  options.bounded_memory = compiled.machine().bounded_memory;
  options.progress = progress;
  compile::LateValues late_values;
  if (!shared.late_values.empty()) {
    if (expanded) late_values = with_copies(shared.late_values, shared.graph.vertices().size(), expanded->copy_of);
    options.late_values = expanded ? &late_values : &shared.late_values;
    options.bind = false;
  }
  if (dumps("plan")) {
    options.shown_tile = dump_tile(compiled.machine());
    options.show_plan = [](const char* pass, const std::string& plan) { write_dump(fmt::format("# after {}\n{}", pass, plan)); };
  }
  if (logs_passes()) options.log = [](const char* pass, const std::string& text) { fmt::print(stderr, "[compile] {}: {}\n", pass, text); };
  const bool reports = settings.graph_report || settings.execution_report;
  if (reports) {
    options.variable_lines = &shared.variable_sites;
    options.compute_set_lines = &shared.compute_set_sites;
    options.step_line = step_sites(shared);
  }
  compile::Result result = compile::compile(compiled, nodes, options);
  const std::shared_ptr<const GraphFacts> facts =
      reports ? std::make_shared<const GraphFacts>(graph_facts(shared, compiled, result)) : nullptr;
  const std::vector<std::uint32_t> name_lines = std::move(result.name_lines);
  auto e = executable_of(shared, compiled, std::move(result), settings, nodes.size());
  e->facts = facts;
  if (dumps("tile")) write_dump(tile::print(*e->program, e->library, {dump_tile(compiled.machine()), true}));
  std::string path;
  if (settings.graph_report) {
    cycles::RowsOf rows;
    profile::Report report = memory_report(*e, settings.lowered_variables, cycles::Detail::whole, &rows);
    if (!e->out_of_memory.empty()) report.compiled_change = compiled_change(compiled, nodes, options, name_lines, rows, report);
    path = write_report(report, settings);
  }
  if (!e->out_of_memory.empty() && !settings.compile.allow_out_of_memory)
    throw poplar::graph_memory_allocation_error(e->out_of_memory + where_to_look(path) + " [out-of-memory]", path,
                                                graph_profile(memory_report(*e), *e));
  return e;
}

profile::Report memory_report(const ExecutableState& e, bool with_variables, cycles::Detail detail, cycles::RowsOf* rows_of) {
  profile::Report report;
  cycles::RowsOf rows = cycles::fill_memory(*e.program, e.library, report, with_variables, detail);
  report.graph = e.graph_info;
  report.out_of_memory = e.out_of_memory;
  if (e.facts && detail == cycles::Detail::whole) add_graph_facts(*e.facts, rows, report);
  report.writer = poplar::versionString().cloneAsString();
  if (rows_of) *rows_of = std::move(rows);
  return report;
}

namespace {
std::string write_report_alone(const profile::Report& report, const std::string& file) {
  std::ofstream out(file, std::ios::binary);
  profile::write_report(report, out);
  out.close();
  if (!out) fail(ErrorKind::file_load_error, "report-file", "cannot write the report to '{}'", file);
  return file;
}
}  // namespace

std::string write_report(const profile::Report& report, const EngineSettings& settings) {
  if (!settings.report_file.empty()) return write_report_alone(report, settings.report_file);
  const std::string& directory = settings.report_directory;
  std::error_code error;
  fs::create_directories(directory, error);
  const std::string file = (fs::path(directory) / "profile.pando").string();
  const std::string summary = (fs::path(directory) / "summary.txt").string();
  std::ofstream out(file, std::ios::binary), summary_out(summary);
  profile::write_report(report, out);
  profile::print_summary(report, {true, true, true}, summary_out);
  if (!out || !summary_out) fail(ErrorKind::file_load_error, "report-file", "cannot write the report to '{}' and '{}'", file, summary);
  return file;
}

profile::Report read_report_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in && path.ends_with(".pop"))
    for (const char* ending : {".pando", ".json"})
      if (!in.is_open()) in.open(path.substr(0, path.size() - 4) + ending, std::ios::binary);
  if (!in.is_open()) fail(ErrorKind::file_load_error, "report-file", "cannot read the report '{}'", path);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  return profile::read_report(std::move(bytes));
}

}  // namespace pando::facade

namespace poplar {

using pando::facade::Access;
using pando::facade::parse_engine_options;

Executable compileGraph(const Graph& graph, ArrayRef<program::Program> programs, const OptionFlags& options, bool checkOptionFlags,
                        ProgressFunc progressCallBack, const DebugContext&) {
  return Access::executable(
      pando::facade::compile_executable(graph, programs, parse_engine_options(options, checkOptionFlags), progressCallBack));
}

Executable compileGraph(const Graph& graph, ArrayRef<program::Program> programs, const OptionFlags& options, ProgressFunc progressCallBack,
                        const DebugContext& debugContext) {
  return compileGraph(graph, programs, options, true, std::move(progressCallBack), debugContext);
}

}  // namespace poplar
