// Engine: reports, timing.
#include <cctype>
#include <fstream>
#include <iomanip>
#include <set>
#include <sstream>

#include "facade/engine/compile_graph.h"
#include "facade/engine/engine_state.h"
#include "facade/engine/graph_facts.h"
#include "poplar/Engine.hpp"
#include "pva/pva.hpp"

namespace pando::facade {

profile::Report full_report(const poplar::core::EngineState& engine, cycles::Detail detail) {
  profile::Report report = memory_report(*engine.executable, engine.settings.lowered_variables, detail);
  if (engine.cycles) engine.cycles->fill(report, engine.settings.tile_cycles, detail);
  if (detail == cycles::Detail::whole) add_work(report);
  return report;
}

using poplar::ProfileValue;

namespace {

// Of the vertices, each once, sorted.
ProfileValue::Vector codelet_names(const poplar::core::ExecutableState& e) {
  std::set<std::string> names;
  for (const auto& step : e.program->computes)
    for (const auto& group : step.groups) names.insert(e.library[group.codelet].name);
  return {names.begin(), names.end()};
}

// The names of profiles: "vertex code" is vertexCode, and two that are called otherwise there.
std::string profile_name(const std::string& category) {
  if (category == "vertex state") return "vertexInstanceState";
  if (category == "exchange code") return "internalExchangeCode";
  std::string out;
  for (std::size_t i = 0; i < category.size(); ++i) {
    const bool starts_word = i > 0 && (category[i - 1] == '_' || category[i - 1] == ' ');
    if (category[i] != '_' && category[i] != ' ')
      out += starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(category[i]))) : category[i];
  }
  return out;
}

// Bytes per tile. All memory is reported as not interleaved, and by what is live at once: nothing overlaps.
ProfileValue category_of(ProfileValue::Vector on_tiles) {
  const ProfileValue::Vector none(on_tiles.size(), std::uint64_t{0});
  const ProfileValue::Map empty{{"nonOverlapped", none}, {"overlapped", none}};
  return ProfileValue::Map{{"total", on_tiles},
                           {"nonInterleaved", ProfileValue::Map{{"nonOverlapped", std::move(on_tiles)}, {"overlapped", none}}},
                           {"interleaved", empty},
                           {"overflowed", empty}};
}

ProfileValue::Map categories_of(const profile::Report& r) {
  ProfileValue::Map by_category;
  for (std::size_t c = 0; c < r.categories.size(); ++c) {
    ProfileValue::Vector on_tiles;
    for (const auto& t : r.tiles) on_tiles.emplace_back(c < t.by_category.size() ? t.by_category[c] : std::uint64_t{0});
    by_category.emplace(profile_name(r.categories[c].category), category_of(std::move(on_tiles)));
  }
  // Programs sum up these without asking whether they are there.
  for (const char* name : {"internalExchangeCode", "vertexInstanceState", "vertexFieldData", "copyDescriptor", "vectorListDescriptor"})
    if (!by_category.count(name)) by_category.emplace(name, category_of(ProfileValue::Vector(r.tiles.size(), std::uint64_t{0})));
  return by_category;
}

}  // namespace

ProfileValue graph_profile(const profile::Report& r, const poplar::core::ExecutableState& e) {
  ProfileValue::Map graph{{"numVars", r.graph.variables},
                          {"numVertices", r.graph.vertices},
                          {"numComputeSets", r.graph.compute_sets},
                          {"numEdges", r.graph.edges}};
  ProfileValue::Vector used, with_gaps;
  for (const auto& t : r.tiles) {
    used.emplace_back(t.used);
    with_gaps.emplace_back(t.with_gaps);
  }
  ProfileValue::Map memory{{"byCategory", categories_of(r)},
                           {"byTile", ProfileValue::Map{{"total", std::move(used)}, {"totalIncludingGaps", std::move(with_gaps)}}}};
  ProfileValue::Map target{{"numIPUs", r.target.ipus},
                           {"tilesPerIpu", r.target.tiles_per_ipu},
                           {"numTiles", r.target.tiles},
                           {"bytesPerTile", r.target.bytes_per_tile},
                           {"clockFrequency", r.target.clock_hz}};
  return ProfileValue::Map{{"graph", std::move(graph)},
                           {"memory", std::move(memory)},
                           {"target", std::move(target)},
                           {"vertexTypes", ProfileValue::Map{{"names", codelet_names(e)}}}};
}

}  // namespace pando::facade

namespace poplar {

using pando::facade::Access;

using pando::facade::full_report;
using pando::facade::graph_profile;
using pando::facade::memory_report;
using pando::facade::parse_summary_options;
using pando::profile::Report;

namespace {

ProfileValue execution_profile(const Report& r) {
  ProfileValue::Vector steps;
  for (const auto& s : r.steps)
    steps.push_back(ProfileValue::Map{{"stream", s.stream},
                                      {"name", s.name},
                                      {"kind", s.kind},
                                      {"executions", s.executions},
                                      {"cycles", s.cycles.total()},
                                      {"vertices", s.vertices},
                                      {"exchangedBytes", s.exchanged_bytes}});
  return ProfileValue::Map{{"simulation", ProfileValue::Map{{"cycles", r.total_cycles}, {"runs", r.runs}, {"steps", std::move(steps)}}}};
}

std::uint64_t whole(const ProfileValue& v) { return static_cast<std::uint64_t>(v.asNumber()); }

// What graph_profile and execution_profile keep of a report.
Report report_of(const ProfileValue& graph, const ProfileValue& execution) {
  Report r;
  if (graph.type() == ProfileValue::Type::MAP) {
    const ProfileValue &target = graph["target"], &counts = graph["graph"], &tiles = graph["memory"]["byTile"];
    r.target.ipus = target["numIPUs"].asUint();
    r.target.tiles_per_ipu = target["tilesPerIpu"].asUint();
    r.target.tiles = target["numTiles"].asUint();
    r.target.bytes_per_tile = whole(target["bytesPerTile"]);
    r.target.clock_hz = target["clockFrequency"].asNumber();
    r.graph = {whole(counts["numVars"]), whole(counts["numVertices"]), whole(counts["numComputeSets"]), whole(counts["numEdges"]), 0};
    for (std::size_t i = 0; i < tiles["total"].size(); ++i)
      r.tiles.push_back({whole(tiles["total"][i]), whole(tiles["totalIncludingGaps"][i]), {}});
  }
  if (execution.type() == ProfileValue::Type::MAP) {
    const ProfileValue& simulation = execution["simulation"];
    r.executed = true;
    r.total_cycles = whole(simulation["cycles"]);
    r.runs = whole(simulation["runs"]);
  }
  return r;
}

}  // namespace

void Engine::printProfileSummary(std::ostream& out, const OptionFlags& options) {
  pando::profile::print_summary(full_report(Access::idle(*this)), parse_summary_options(options), out);
}

pva::Report Engine::getReport(bool reportExecution) {
  const core::EngineState& s = Access::idle(*this);
  return pva::Report(std::make_shared<const Report>(
      reportExecution ? full_report(s, pando::cycles::Detail::whole)
                      : memory_report(*s.executable, s.settings.lowered_variables, pando::cycles::Detail::whole)));
}

const ProfileValue& Engine::getGraphProfile(const OptionFlags&) {
  return Access::idle(*this).graph_profile = graph_profile(memory_report(*Access::idle(*this).executable), *Access::idle(*this).executable);
}
const ProfileValue& Engine::getExecutionProfile(const OptionFlags&) {
  return Access::idle(*this).execution_profile = execution_profile(full_report(Access::idle(*this)));
}
const ProfileValue& Engine::getProfile(const OptionFlags&) {
  const Report r = full_report(Access::idle(*this));
  return Access::idle(*this).profile = ProfileValue::Map{{"graphProfile", graph_profile(r, *Access::idle(*this).executable)},
                                                         {"executionProfile", execution_profile(r)}};
}
std::string Engine::getSummary(const OptionFlags& options) {
  std::ostringstream out;
  printProfileSummary(out, options);
  return out.str();
}

Engine::TimerTimePoint Engine::getTimeStamp() {
  TimerTimePoint t;
  t.nanoseconds = Access::state(*this).now();
  t.runs = Access::state(*this).runs;
  return t;
}

std::string Engine::reportTiming(const TimerTimePoint& start, const TimerTimePoint& end) {
  const double seconds = static_cast<double>(end.nanoseconds - start.nanoseconds) * 1e-9;
  return fmt::format("{:.6f} s, {} runs", seconds, end.runs - start.runs);
}

void Engine::reportIntervals(std::ostream& out) {
  out << "run,begin_ns,end_ns\n";
  for (std::size_t i = 0; i < Access::idle(*this).intervals.size(); ++i)
    out << i << ',' << Access::idle(*this).intervals[i].first << ',' << Access::idle(*this).intervals[i].second << '\n';
}

void printProfileSummary(std::ostream& out, const std::string& profilePath, const OptionFlags& options) {
  pando::profile::print_summary(pando::facade::read_report_file(profilePath), parse_summary_options(options), out);
}

void printSummaryOf(std::ostream& out, const ProfileValue& graph, const ProfileValue& execution, const OptionFlags& options) {
  pando::profile::print_summary(report_of(graph, execution), parse_summary_options(options), out);
}

void printGraphSummary(std::ostream& out, const std::string& profilePath, const OptionFlags& options) {
  Report r = pando::facade::read_report_file(profilePath);
  r.executed = false;
  pando::profile::print_summary(r, parse_summary_options(options), out);
}

}  // namespace poplar
