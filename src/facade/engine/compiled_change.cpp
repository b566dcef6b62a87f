#include "facade/engine/compiled_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "poplar/exceptions.hpp"
#include "profile/advice.h"
#include "profile/text.h"

namespace pando::facade {

namespace {

constexpr std::size_t kMostParts = 100'000;  // variables and vertices

// The variables that are the resident's: of its name, and of its line if that is known.
std::vector<VariableId> variables_of(const graph::Graph& graph, const compile::Options& options, const std::string& name,
                                     std::uint32_t line) {
  std::vector<VariableId> out;
  for (std::uint32_t v = 0; v < graph.variables().size(); ++v) {
    if (graph.variables()[VariableId(v)].name != name) continue;
    if (compile::line_of(options.variable_lines, v) == line) out.emplace_back(v);
  }
  return out;
}

std::vector<TileId> emptiest(const profile::Report& report, std::uint64_t count) {
  std::vector<std::uint32_t> order(report.tiles.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return report.tiles[a].with_gaps < report.tiles[b].with_gaps; });
  order.resize(count);
  std::sort(order.begin(), order.end());
  std::vector<TileId> tiles;
  for (const std::uint32_t t : order) tiles.emplace_back(t);
  return tiles;
}

void map_evenly(graph::Graph& graph, VariableId variable, const std::vector<TileId>& tiles) {
  const std::uint64_t elements = graph.variables()[variable].elements, n = tiles.size();
  std::vector<graph::MappedInterval> mapping;
  for (std::uint64_t i = 0; i < n; ++i)
    if (const Interval part{elements * i / n, elements * (i + 1) / n}; part.size() > 0) mapping.push_back({part, tiles[i]});
  graph.set_tile_mapping(graph.view(variable), mapping);
}

}  // namespace

std::string compiled_change(const graph::Graph& graph, const std::vector<graph::ProgramPtr>& programs, const compile::Options& options,
                            const std::vector<std::uint32_t>& name_lines, const cycles::RowsOf& rows, const profile::Report& report) {
  if (graph.variables().size() + graph.vertices().size() > kMostParts) return {};
  const std::optional<profile::Spread> spread = profile::smallest_spread(report);
  if (!spread) return {};
  const profile::Resident& resident = report.residents[spread->resident];
  const tile::NameId name = rows.residents[spread->resident];
  const std::uint32_t line = name.index() < name_lines.size() ? name_lines[name.index()] : 0;
  const std::vector<VariableId> variables = variables_of(graph, options, resident.name, line);
  if (variables.empty()) return {};
  compile::Options silent = options;
  silent.progress = nullptr, silent.log = nullptr, silent.show_plan = nullptr;
  const std::uint64_t all = report.tiles.size();
  for (std::uint64_t tiles = std::min(spread->tiles, all);; tiles = std::min(2 * tiles, all)) {
    graph::Graph changed = graph;
    const std::vector<TileId> over = emptiest(report, tiles);
    for (const VariableId v : variables) map_evenly(changed, v, over);
    const std::string change = fmt::format("map '{}' evenly over {} of the {} tiles instead of {}", resident.name,
                                           profile::count_text(tiles), profile::count_text(all), profile::count_text(resident.tiles));
    try {
      const compile::Result result = compile::compile(changed, programs, silent);
      if (!result.out_of_memory) return fmt::format("{}: {}", change, profile::kCompiledFits);
      const compile::OutOfMemory& o = *result.out_of_memory;
      if (tiles == all)
        return fmt::format("{}, and change more: compiled so, with the vertices where they are, tile {} still lacks {}", change,
                           o.tile.value, profile::bytes_text(o.needed - std::min(o.needed, o.available)));
    } catch (const poplar::poplar_error&) { return {}; }  // a mapping that the program cannot have
  }
}

}  // namespace pando::facade
