#include "poplibs/popnn/rows/placement.h"

#include <algorithm>

namespace popnn::internal {

using namespace poplar;

std::vector<TileRun> runs_of(const Graph& graph, const Tensor& t) {
  const auto mapping = graph.getTileMapping(t);
  std::vector<TileRun> runs;
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const Interval& i : mapping[tile]) runs.push_back({i.begin(), i.end(), tile});
  std::sort(runs.begin(), runs.end(), [](const TileRun& a, const TileRun& b) { return a.begin < b.begin; });
  return runs;
}

std::vector<unsigned> place_units(const std::vector<TileRun>& runs, const std::vector<std::size_t>& starts, std::size_t tiles) {
  const std::size_t units = starts.size(), most = (units + tiles - 1) / tiles;
  std::vector<unsigned> out(units), load(tiles, 0);
  std::size_t run = 0, used = 0;
  bool even = !runs.empty();
  for (std::size_t u = 0; u < units && even; ++u) {
    while (runs[run].end <= starts[u]) ++run;
    out[u] = runs[run].tile;
    used += load[out[u]] == 0;
    even = ++load[out[u]] <= most;
  }
  if (even && 10 * used >= 9 * std::min(units, tiles)) return out;
  for (std::size_t u = 0; u < units; ++u) out[u] = static_cast<unsigned>(units <= tiles ? u : u * tiles / units);
  return out;
}

}  // namespace popnn::internal
