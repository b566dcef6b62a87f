#include "poplibs/popnn/rows/row_plan.h"

#include <algorithm>

#include "poplibs/popnn/rows/placement.h"
#include "poplibs/work.h"

namespace popnn::internal {

using namespace poplar;

namespace {

constexpr std::size_t kLeastElements = 32;  // of a vertex
constexpr std::size_t kMostShares = 4;      // rows stay where they are if no tile has more than so many times its share
constexpr std::size_t kSplitCycles = 3000;  // two more compute sets with their exchanges

std::size_t ceildiv(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// The most rows that one tile has.
std::size_t most_rows(const std::vector<TileRun>& runs, std::size_t columns, std::size_t tiles) {
  std::vector<std::size_t> rows(tiles, 0);
  for (const TileRun& r : runs) rows[r.tile] += (r.end - r.begin) / columns;
  return *std::max_element(rows.begin(), rows.end());
}

// Adds the rows [begin, end), cut between the workers of a tile.
void add_rows(RowPlan& plan, unsigned tile, std::size_t begin, std::size_t end, unsigned workers) {
  const std::size_t least = std::max<std::size_t>(1, kLeastElements / plan.columns);
  const std::size_t parts = std::max<std::size_t>(1, std::min<std::size_t>(workers, (end - begin) / least));
  for (std::size_t i = 0; i < parts; ++i)
    plan.blocks.push_back({tile, {begin + (end - begin) * i / parts, begin + (end - begin) * (i + 1) / parts}, {0, plan.columns}});
}

std::vector<unsigned> place(const std::vector<TileRun>& runs, std::size_t elements, std::size_t units, std::size_t tiles) {
  std::vector<std::size_t> starts(units);
  for (std::size_t u = 0; u < units; ++u) starts[u] = elements * u / units;
  return place_units(runs, starts, tiles);
}

// In how many pieces to cut each row: by the time of the busiest worker.
std::size_t choose_pieces(std::size_t rows, std::size_t columns, std::size_t tiles, std::size_t workers, unsigned cycles_per_element,
                          std::size_t least_columns) {
  const std::size_t most = std::max<std::size_t>(1, columns / least_columns);
  const auto cost = [&](std::size_t pieces) {
    // Rows stay whole on a worker; fewer workers than rows on a tile are idle.
    const std::size_t units = rows * pieces, per_tile = ceildiv(units, tiles), per_worker = ceildiv(per_tile, workers);
    return per_worker * ceildiv(columns, pieces) * cycles_per_element + (pieces > 1 ? kSplitCycles : 0);
  };
  std::size_t best = 1;
  for (const std::size_t pieces : {std::min(most, ceildiv(tiles, rows)), std::min(most, ceildiv(tiles * workers, rows))})
    if (cost(pieces) < cost(best)) best = pieces;
  return best;
}

}  // namespace

RowPlan plan_rows(const Graph& graph, const Tensor& matrix, unsigned cycles_per_element, std::size_t least_columns) {
  RowPlan plan{matrix.dim(0), matrix.dim(1), 1, {}};
  const std::size_t tiles = graph.getTarget().getNumTiles();
  const unsigned workers = pando::poplibs::vertices_per_tile(graph.getTarget());
  const std::vector<TileRun> runs = runs_of(graph, matrix);
  const bool rows_whole =
      std::all_of(runs.begin(), runs.end(), [&](const TileRun& r) { return r.begin % plan.columns == 0 && r.end % plan.columns == 0; });
  const bool even = rows_whole && most_rows(runs, plan.columns, tiles) <= kMostShares * ceildiv(plan.rows, tiles);
  plan.pieces =
      choose_pieces(plan.rows, plan.columns, tiles, workers, cycles_per_element * graph.getTarget().getNumWorkerContexts(), least_columns);
  // 100,000 elements and more are everybody's business.
  if (plan.rows * plan.pieces < tiles && plan.rows * plan.columns >= 64 * tiles)
    plan.pieces = std::max<std::size_t>(1, std::min(ceildiv(tiles, plan.rows), plan.columns / least_columns));
  if (plan.pieces > 1) {
    const auto placed = place(runs, plan.rows * plan.columns, plan.rows * plan.pieces, tiles);
    for (std::size_t r = 0; r < plan.rows; ++r)
      for (std::size_t p = 0; p < plan.pieces; ++p)
        plan.blocks.push_back(
            {placed[r * plan.pieces + p], {r, r + 1}, {plan.columns * p / plan.pieces, plan.columns * (p + 1) / plan.pieces}});
    return plan;
  }
  if (even) {
    for (const TileRun& r : runs) add_rows(plan, r.tile, r.begin / plan.columns, r.end / plan.columns, workers);
    return plan;
  }
  const std::size_t enough = std::max<std::size_t>(1, std::min(plan.rows, ceildiv(plan.rows * plan.columns, kLeastElements)));
  const std::size_t units = std::min(enough, tiles);
  const auto placed = place(runs, plan.rows * plan.columns, units, tiles);
  for (std::size_t u = 0; u < units; ++u) add_rows(plan, placed[u], plan.rows * u / units, plan.rows * (u + 1) / units, workers);
  return plan;
}

std::vector<Tensor> parts_of(const Tensor& matrix, const RowPlan& plan) {
  std::vector<Interval> intervals;
  intervals.reserve(plan.blocks.size());
  // Blocks are runs of the flat matrix: whole rows, or a part of one.
  for (const RowBlock& b : plan.blocks)
    intervals.emplace_back(b.rows.begin() * plan.columns + b.columns.begin(), (b.rows.end() - 1) * plan.columns + b.columns.end());
  return matrix.flatten().slices(intervals);
}

Tensor add_matrix(Graph& graph, const Type& type, const RowPlan& plan, const DebugContext& debug) {
  const Tensor out = graph.addVariable(type, {plan.rows, plan.columns}, debug);
  Graph::TileToTensorMapping mapping(graph.getTarget().getNumTiles());
  for (const RowBlock& b : plan.blocks)
    mapping[b.tile].emplace_back(b.rows.begin() * plan.columns + b.columns.begin(), (b.rows.end() - 1) * plan.columns + b.columns.end());
  graph.setTileMapping(out, mapping);
  return out;
}

Tensor add_partials(Graph& graph, const Type& type, const RowPlan& plan, std::size_t width, const DebugContext& debug) {
  const Tensor out = graph.addVariable(type, {plan.rows, plan.pieces, width}, debug);
  Graph::TileToTensorMapping mapping(graph.getTarget().getNumTiles());
  std::size_t at = 0;
  for (const RowBlock& b : plan.blocks) {
    const std::size_t n = b.rows.size() * width;
    mapping[b.tile].emplace_back(at, at + n);
    at += n;
  }
  graph.setTileMapping(out, mapping);
  return out;
}

Tensor add_per_row(Graph& graph, const Type& type, const RowPlan& plan, std::size_t width, const DebugContext& debug) {
  const Tensor out = graph.addVariable(type, {plan.rows, width}, debug);
  Graph::TileToTensorMapping mapping(graph.getTarget().getNumTiles());
  for (const RowBlock& b : plan.blocks)
    if (b.columns.begin() == 0) mapping[b.tile].emplace_back(b.rows.begin() * width, b.rows.end() * width);
  graph.setTileMapping(out, mapping);
  return out;
}

}  // namespace popnn::internal
