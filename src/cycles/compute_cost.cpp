#include <algorithm>
#include <functional>

#include "cycles/step_cost.h"

namespace pando::cycles {

namespace {

struct TileWork {
  bool used = false;
  std::uint64_t whole_tile = 0;  // multi and supervisor vertices, one after the other
  std::uint32_t first = 0;       // its worker vertices, in StepWork::cycles
  std::uint32_t count = 0;
};

struct StepWork {
  std::uint32_t first = 0;
  std::vector<TileWork> tiles;  // from the step's first tile to its last: a machine has far more
  std::vector<std::uint64_t> cycles;
};

// The load of the slowest of `workers`.
std::uint64_t slowest_worker(std::span<std::uint64_t> work, unsigned workers) {
  if (work.empty()) return 0;
  auto [low, high] = std::minmax_element(work.begin(), work.end());
  if (work.size() <= workers) return *high;
  if (*low == *high) return (work.size() + workers - 1) / workers * *high;
  std::sort(work.begin(), work.end(), std::greater<>());
  std::vector<std::uint64_t> load(workers, 0);
  for (std::uint64_t w : work) *std::min_element(load.begin(), load.end()) += w;
  return *std::max_element(load.begin(), load.end());
}

template <class Visit>  // visit(group, vertex)
void for_each_vertex(const tile::Program& program, const tile::ComputeStep& step, Visit visit) {
  for (const tile::VertexGroup& g : step.groups)
    for (std::uint32_t i = 0; i < g.count; ++i) visit(g, program.vertices[g.first + i]);
}

void count_codelets(const tile::Program& program, const tile::ComputeStep& step, ComputeCost& cost) {
  for (const tile::VertexGroup& g : step.groups) {
    CodeletShare share{g.codelet, g.count, 0, 0};
    for (std::uint32_t i = 0; i < g.count; ++i) {
      std::uint64_t cycles = program.vertices[g.first + i].cycles;
      if (cycles == tile::kUnestimated)
        ++share.unestimated;
      else
        share.cycles += cycles;
    }
    cost.vertices += share.instances;
    cost.unestimated += share.unestimated;
    cost.codelets.push_back(share);
  }
}

// Sorts the estimated worker vertices by tile, by counting.
StepWork sort_by_tile(const tile::Program& program, const tile::ComputeStep& step, std::span<const VertexKind> kinds) {
  std::uint32_t low = ~0u, high = 0;
  for_each_vertex(program, step, [&](const tile::VertexGroup&, const tile::VertexInstance& v) {
    low = std::min(low, v.tile.value);
    high = std::max(high, v.tile.value);
  });
  StepWork work;
  work.first = low;
  work.tiles.resize(high - low + 1);
  auto is_worker = [&](CodeletId c) { return kinds[c.index()] == VertexKind::worker; };
  for_each_vertex(program, step, [&](const tile::VertexGroup& g, const tile::VertexInstance& v) {
    TileWork& t = work.tiles[v.tile.value - low];
    t.used = true;
    if (v.cycles == tile::kUnestimated) return;
    if (is_worker(g.codelet))
      ++t.count;
    else
      t.whole_tile += v.cycles;
  });
  std::uint32_t next = 0;
  for (TileWork& t : work.tiles) {
    t.first = next;
    next += t.count;
    t.count = 0;
  }
  work.cycles.resize(next);
  for_each_vertex(program, step, [&](const tile::VertexGroup& g, const tile::VertexInstance& v) {
    TileWork& t = work.tiles[v.tile.value - low];
    if (v.cycles != tile::kUnestimated && is_worker(g.codelet)) work.cycles[t.first + t.count++] = v.cycles;
  });
  return work;
}

void find_slowest_vertex(const tile::Program& program, const tile::ComputeStep& step, ComputeCost& cost) {
  std::uint32_t vertices = 0;
  for_each_vertex(program, step, [&](const tile::VertexGroup& g, const tile::VertexInstance& v) {
    if (v.tile != cost.slowest_tile) return;
    ++vertices;
    if (v.cycles == tile::kUnestimated || (cost.slowest_codelet.valid() && v.cycles <= cost.slowest_cycles)) return;
    cost.slowest_codelet = g.codelet;
    cost.slowest_cycles = v.cycles;
  });
  cost.used_workers = std::min(vertices, program.machine.workers);
}

}  // namespace

ComputeCost compute_cost(const tile::Program& program, const tile::ComputeStep& step, std::span<const VertexKind> kinds,
                         std::size_t tiles) {
  ComputeCost cost;
  count_codelets(program, step, cost);
  if (cost.vertices == 0) return cost;
  StepWork work = sort_by_tile(program, step, kinds);
  const Machine& m = program.machine;
  double sum = 0;
  for (std::size_t i = 0; i < work.tiles.size(); ++i) {
    const TileWork& t = work.tiles[i];
    if (!t.used) continue;
    std::uint64_t slowest = slowest_worker(std::span(work.cycles).subspan(t.first, t.count), m.workers);
    std::uint64_t tile = m.launch_cycles + std::max(m.workers * slowest, t.whole_tile);
    if (tile > cost.cycles) cost.slowest_tile = TileId(work.first + static_cast<std::uint32_t>(i));
    cost.cycles = std::max(cost.cycles, tile);
    sum += static_cast<double>(tile);
    const std::size_t ranges = cost.tiles.size();
    if (ranges > 0 && cost.tiles[ranges - 2] == work.first + i && cost.tiles[ranges - 1] == tile)
      ++cost.tiles[ranges - 2];
    else
      cost.tiles.insert(cost.tiles.end(), {work.first + i, work.first + i + 1, tile});
  }
  find_slowest_vertex(program, step, cost);
  if (cost.cycles > 0 && tiles > 0) cost.balance = sum / static_cast<double>(tiles) / static_cast<double>(cost.cycles);
  return cost;
}

}  // namespace pando::cycles
