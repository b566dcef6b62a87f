#include "poplibs/popops/reduce/plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

namespace popops::internal {

namespace {

// Elements that a vertex has at least, if there is a choice; fewer where partial results are collected, so that results are spread.
constexpr std::size_t kGrain = 64, kCollectingGrain = 16;
// A region of a partial result that is worth the edge.
constexpr std::size_t kLongRegion = 128;
// Elements that a vertex collects at least, where there are neighbouring outputs for as many, and not kGrain of them for each tile: results
// stay in runs that are worth moving.
constexpr std::size_t kLeastCollected = 256;
// Cycles of a worker for one region more, and of one stage more: a compute set, an exchange and two syncs.
constexpr double kRegionCycles = 6, kStageCycles = 400;

// Outputs that more than one of the items contribute to, as sorted disjoint intervals.
std::vector<poplar::Interval> shared_outputs(const std::vector<WorkItems>& of_tiles) {
  std::vector<std::pair<std::size_t, int>> events;
  for (const WorkItems& items : of_tiles)
    for (const WorkItem& item : items) {
      events.emplace_back(item.begin, 1);
      events.emplace_back(item.begin + item.outputs, -1);
    }
  std::sort(events.begin(), events.end());  // ends come first
  std::vector<poplar::Interval> shared;
  int depth = 0;
  std::size_t begin = 0;
  for (const auto& [at, change] : events) {
    if (change > 0 && ++depth == 2) begin = at;
    if (change < 0 && depth-- == 2 && begin != at) {
      if (!shared.empty() && shared.back().end() == begin) begin = shared.back().begin(), shared.pop_back();
      shared.emplace_back(begin, at);
    }
  }
  return shared;
}

bool meets(const WorkItem& item, const std::vector<poplar::Interval>& intervals) {
  const auto after =
      std::partition_point(intervals.begin(), intervals.end(), [&](const poplar::Interval& i) { return i.end() <= item.begin; });
  return after != intervals.end() && after->begin() < item.begin + item.outputs;
}

// Gives the items' results places in the next space such that neighbouring outputs are neighbours there where possible: few,
// long sources.
std::vector<Source> place_partials(const std::vector<WorkItem*>& items, unsigned space, std::size_t& used) {
  std::vector<WorkItem*> sorted = items;
  std::stable_sort(sorted.begin(), sorted.end(), [](const WorkItem* a, const WorkItem* b) { return a->begin < b->begin; });
  std::vector<std::vector<WorkItem*>> chains;
  std::multimap<std::size_t, std::size_t> ending;  // end -> chain
  for (WorkItem* item : sorted) {
    const auto found = ending.find(item->begin);
    const std::size_t chain = found == ending.end() ? chains.size() : found->second;
    if (found == ending.end())
      chains.emplace_back();
    else
      ending.erase(found);
    chains[chain].push_back(item);
    ending.emplace(item->begin + item->outputs, chain);
  }
  std::vector<Source> sources;
  for (const std::vector<WorkItem*>& chain : chains) {
    const WorkItem& last = *chain.back();
    sources.push_back({chain.front()->begin, last.begin + last.outputs, used, space});
    for (WorkItem* item : chain) {
      item->at = used;
      used += item->outputs;
    }
  }
  return sources;
}

// Deals items out to at most `n` vertices of equal work, in order; final ones and others apart.
void append_works(unsigned tile, WorkItems items, const std::vector<bool>& last, std::size_t n, std::vector<Work>& works) {
  std::size_t total = 0, before = 0;
  for (const WorkItem& item : items) total += item.elements();
  n = std::clamp<std::size_t>(total / kGrain, 1, n);
  std::size_t current = n;
  long open[2] = {-1, -1};
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t size = items[i].elements(), bin = (before + size / 2) * n / total;
    before += size;
    if (bin != current) open[0] = open[1] = -1;
    current = bin;
    long& work = open[last[i]];
    if (work < 0) {
      work = static_cast<long>(works.size());
      works.push_back({tile, static_cast<bool>(last[i]), {}});
    }
    works[static_cast<std::size_t>(work)].items.push_back(std::move(items[i]));
  }
}

struct Planner {
  const ViewDims& dims;
  const PlanOptions& options;
  ReductionPlan plan;
  std::vector<Source> sources;  // what later stages have to collect, in the order of tiles

  void reduce_on_tiles(const std::vector<std::vector<poplar::Interval>>& on_tile);
  void collect();
  void collect_in_groups(std::size_t depth);
  void collect_rest();
  void append_bands(std::vector<Band> bands, bool last);
};

void Planner::reduce_on_tiles(const std::vector<std::vector<poplar::Interval>>& on_tile) {
  std::vector<WorkItems> of_tiles;
  for (const std::vector<poplar::Interval>& intervals : on_tile) {
    WorkItems items;
    for (const poplar::Interval& i : intervals) append_items(dims, i, items);
    of_tiles.push_back(joined(std::move(items)));
  }
  const std::vector<poplar::Interval> shared_by_tiles = shared_outputs(of_tiles);
  for (WorkItems& items : of_tiles) {
    std::size_t elements = 0;
    for (const WorkItem& item : items) elements += item.elements();
    const std::size_t target = std::max(kGrain, (elements + options.vertices_per_tile - 1) / options.vertices_per_tile);
    WorkItems parts;
    for (const WorkItem& item : items) append_divided(item, target, meets(item, shared_by_tiles), options.columns, parts);
    items = std::move(parts);
  }
  const std::vector<poplar::Interval> shared = shared_outputs(of_tiles);
  bool any_shared_reduces = false;
  for (const WorkItems& items : of_tiles)
    for (const WorkItem& item : items) any_shared_reduces = any_shared_reduces || (item.reduces() && meets(item, shared));
  // Without a reduction in it the stage would do nothing for shared outputs.
  const bool skips = options.input_is_partial || !any_shared_reduces;

  Stage stage;
  for (unsigned tile = 0; tile < of_tiles.size(); ++tile) {
    WorkItems kept;
    std::vector<bool> last;
    for (WorkItem& item : of_tiles[tile]) {
      const bool is_shared = meets(item, shared);
      if (is_shared && skips && !item.reduces()) {
        sources.push_back({item.begin, item.begin + item.outputs, item.regions[0].begin, item.regions[0].space});
        continue;
      }
      kept.push_back(std::move(item));
      last.push_back(!is_shared);
    }
    if (kept.empty()) continue;
    std::vector<WorkItem*> partial;
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (!last[i]) partial.push_back(&kept[i]);
    const std::size_t first_work = stage.works.size();
    const std::vector<Source> placed = place_partials(partial, 1, stage.partials);
    sources.insert(sources.end(), placed.begin(), placed.end());
    append_works(tile, std::move(kept), last, options.vertices_per_tile, stage.works);
    // A vertex of columns has no other item.
    for (std::size_t w = first_work; w < stage.works.size(); ++w)
      if (Work& work = stage.works[w]; work.items.size() > 1 || (work.last && options.finishes))
        for (WorkItem& item : work.items) take_rows_apart(item);
  }
  plan.stages.push_back(std::move(stage));
}

// The outputs that the sources cover, and how many sources there are of one at most.
struct Overlap {
  std::size_t covered = 0, depth = 0;
};

Overlap overlap_of(const std::vector<Source>& sources) {
  std::vector<std::pair<std::size_t, int>> events;
  for (const Source& s : sources) {
    events.emplace_back(s.begin, 1);
    events.emplace_back(s.end, -1);
  }
  std::sort(events.begin(), events.end());
  Overlap overlap;
  std::size_t depth = 0, begin = 0;
  for (const auto& [at, change] : events) {
    if (depth > 0) overlap.covered += at - begin;
    begin = at;
    depth += static_cast<std::size_t>(change);
    overlap.depth = std::max(overlap.depth, depth);
  }
  return overlap;
}

// Cycles to collect `depth` parts of `outputs` outputs on so many tiles: a tile receives an element a cycle.
double cost_of_collecting(double outputs, double depth, unsigned tiles) {
  return std::ceil(outputs / tiles) * depth + kRegionCycles * depth;
}

void Planner::collect() {
  while (!sources.empty()) {
    const Overlap now = overlap_of(sources);
    const double outputs = static_cast<double>(now.covered), depth = static_cast<double>(now.depth);
    const double group = std::ceil(std::sqrt(depth)), groups = std::ceil(depth / group);
    const double at_once = cost_of_collecting(outputs, depth, options.tiles);
    const double in_two =
        cost_of_collecting(outputs * groups, group, options.tiles) + kStageCycles + cost_of_collecting(outputs, groups, options.tiles);
    if (!options.tree || options.tiles == 1 || now.depth < 4 || at_once <= in_two) return collect_rest();
    collect_in_groups(static_cast<std::size_t>(group));
  }
}

// Neighbouring sources, about `depth` of each output, become one.
void Planner::collect_in_groups(std::size_t depth) {
  std::vector<std::vector<Source>> groups;
  std::size_t total = 0, low = 0, high = 0;
  for (const Source& s : sources) {
    if (groups.empty() || total >= depth * (high - low)) {
      groups.emplace_back();
      total = 0;
      low = s.begin;
      high = s.end;
    }
    groups.back().push_back(s);
    total += s.end - s.begin;
    low = std::min(low, s.begin);
    high = std::max(high, s.end);
  }
  plan.stages.emplace_back();
  const unsigned next_space = static_cast<unsigned>(plan.stages.size());
  std::vector<Source> next;
  std::vector<Band> collected;
  std::size_t used = 0;
  for (std::vector<Source>& group : groups) {
    std::vector<Source> of_group;
    for (Band& band : bands_of(std::move(group))) {
      if (band.sources.size() == 1 && (options.input_is_partial || band.sources[0].space > 0)) {
        next.push_back(band.sources[0]);
        continue;
      }
      if (!of_group.empty() && of_group.back().end == band.begin)
        of_group.back().end = band.end;
      else
        of_group.push_back({band.begin, band.end, used, next_space});
      used += band.end - band.begin;
      collected.push_back(std::move(band));
    }
    next.insert(next.end(), of_group.begin(), of_group.end());
  }
  append_bands(std::move(collected), false);
  sources = std::move(next);
}

void Planner::collect_rest() {
  plan.stages.emplace_back();
  append_bands(bands_of(std::move(sources)), true);
  sources.clear();
}

// Cuts the bands into equal work for all tiles, but not into less than the grain, and for all their workers if regions stay long. Results
// of bands that are not the last lie side by side in the next space, in order.
void Planner::append_bands(std::vector<Band> bands, bool last) {
  std::size_t total = 0, outputs = 0;
  for (const Band& b : bands) total += (b.end - b.begin) * b.sources.size(), outputs += b.end - b.begin;
  const std::size_t all = std::size_t{options.tiles} * options.vertices_per_tile;
  const std::size_t n =
      std::max<std::size_t>(1, std::min(total / kCollectingGrain, std::clamp<std::size_t>(outputs / kLongRegion, options.tiles, all)));
  Stage& stage = plan.stages.back();
  std::size_t before = 0, vertex = 0;
  bool begins = true;
  for (const Band& band : bands) {
    const std::size_t parts = band.sources.size();
    const std::size_t few = total < kGrain * options.tiles ? std::bit_floor(std::max<std::size_t>(1, kLeastCollected / parts)) : 1;
    for (std::size_t at = band.begin; at < band.end;) {
      // Up to the end of the vertex's share, in steps of two outputs.
      const std::size_t share_end = (total * (vertex + 1) + n - 1) / n;
      const std::size_t most = share_end > before ? (share_end - before + parts / 2) / parts : 0;
      const std::size_t width = vertex + 1 == n ? band.end - at : std::min(band.end - at, std::max(few, most / 2 * 2));
      if (begins)
        stage.works.push_back({static_cast<unsigned>((options.first_tile + vertex * options.tiles / n) % options.tiles), last, {}});
      begins = false;
      WorkItem item;
      item.begin = at;
      item.outputs = item.inner = width;
      for (const Source& s : band.sources) item.regions.push_back({s.at + (at - band.begin), width, s.space});
      if (!last) {
        item.at = stage.partials;
        stage.partials += width;
      }
      stage.works.back().items.push_back(std::move(item));
      before += width * parts;
      at += width;
      if (vertex + 1 < n && (at < band.end || before + parts / 2 >= share_end)) {
        vertex = std::max(vertex + 1, std::min(n - 1, before * n / total));
        begins = true;
      }
    }
  }
}

}  // namespace

ReductionPlan plan_reduction(const ViewDims& dims, const std::vector<std::vector<poplar::Interval>>& on_tile, const PlanOptions& options) {
  Planner planner{dims, options, {}, {}};
  planner.reduce_on_tiles(on_tile);
  planner.collect();
  return std::move(planner.plan);
}

}  // namespace popops::internal
