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

// A compute step with what its vertices take.
struct Step {
  const tile::Program& program;
  const tile::ComputeStep& step;
  std::span<const std::uint64_t> cycles;

  template <class Visit>  // visit(group, vertex, cycles)
  void for_each_vertex(Visit visit) const {
    std::size_t at = 0;
    for (const tile::VertexGroup& g : step.groups)
      for (std::uint32_t i = 0; i < g.count; ++i, ++at) {
        const tile::VertexInstance& v = program.vertices[g.first + i];
        visit(g, v, cycles.empty() ? v.cycles : cycles[at]);
      }
  }
};

void count_codelets(const Step& step, ComputeCost& cost) {
  for (const tile::VertexGroup& g : step.step.groups) cost.codelets.push_back({g.codelet, g.count, 0, 0, 0});
  const tile::VertexGroup* group = nullptr;
  std::size_t k = 0;
  step.for_each_vertex([&](const tile::VertexGroup& g, const tile::VertexInstance& v, std::uint64_t cycles) {
    if (group != &g) {
      group = &g;
      k = static_cast<std::size_t>(&g - step.step.groups.data());
    }
    CodeletShare& share = cost.codelets[k];
    if (cycles == tile::kUnestimated) {
      ++share.unestimated;
    } else {
      share.cycles += cycles;
      share.counted += v.cycles == tile::kUnestimated ? 1 : 0;
    }
  });
  for (const CodeletShare& share : cost.codelets) {
    cost.vertices += share.instances;
    cost.unestimated += share.unestimated;
  }
}

// Sorts the worker vertices whose cycles are known by tile, by counting.
StepWork sort_by_tile(const Step& step, std::span<const VertexKind> kinds) {
  std::uint32_t low = ~0u, high = 0;
  step.for_each_vertex([&](const tile::VertexGroup&, const tile::VertexInstance& v, std::uint64_t) {
    low = std::min(low, v.tile.value);
    high = std::max(high, v.tile.value);
  });
  StepWork work;
  work.first = low;
  work.tiles.resize(high - low + 1);
  auto is_worker = [&](CodeletId c) { return kinds[c.index()] == VertexKind::worker; };
  step.for_each_vertex([&](const tile::VertexGroup& g, const tile::VertexInstance& v, std::uint64_t cycles) {
    TileWork& t = work.tiles[v.tile.value - low];
    t.used = true;
    if (cycles == tile::kUnestimated) return;
    if (is_worker(g.codelet))
      ++t.count;
    else
      t.whole_tile += cycles;
  });
  std::uint32_t next = 0;
  for (TileWork& t : work.tiles) {
    t.first = next;
    next += t.count;
    t.count = 0;
  }
  work.cycles.resize(next);
  step.for_each_vertex([&](const tile::VertexGroup& g, const tile::VertexInstance& v, std::uint64_t cycles) {
    TileWork& t = work.tiles[v.tile.value - low];
    if (cycles != tile::kUnestimated && is_worker(g.codelet)) work.cycles[t.first + t.count++] = cycles;
  });
  return work;
}

void find_slowest_vertex(const Step& step, ComputeCost& cost) {
  std::uint32_t vertices = 0;
  step.for_each_vertex([&](const tile::VertexGroup& g, const tile::VertexInstance& v, std::uint64_t cycles) {
    if (v.tile != cost.slowest_tile) return;
    ++vertices;
    if (cycles == tile::kUnestimated || (cost.slowest_codelet.valid() && cycles <= cost.slowest_cycles)) return;
    cost.slowest_codelet = g.codelet;
    cost.slowest_cycles = cycles;
  });
  cost.used_workers = std::min(vertices, step.program.machine.workers);
}

}  // namespace

ComputeCost compute_cost(const tile::Program& program, const tile::ComputeStep& step, std::span<const VertexKind> kinds, std::size_t tiles,
                         std::span<const std::uint64_t> cycles) {
  ComputeCost cost;
  const Step all{program, step, cycles};
  count_codelets(all, cost);
  if (cost.vertices == 0) return cost;
  StepWork work = sort_by_tile(all, kinds);
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
  find_slowest_vertex(all, cost);
  if (cost.cycles > 0 && tiles > 0) cost.balance = sum / static_cast<double>(tiles) / static_cast<double>(cost.cycles);
  return cost;
}

}  // namespace pando::cycles
