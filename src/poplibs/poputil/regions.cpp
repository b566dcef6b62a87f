// Lists of intervals: joined, cut into parts.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"
#include "poputil/Util.hpp"
#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using poplar::Interval;
using Region = std::vector<Interval>;

// More elements than any tensor has, and more pieces than a host holds.
constexpr std::size_t kMostElements = std::size_t{1} << 62, kMostPieces = std::size_t{1} << 28;

using pando::poplibs::ceil_div;

std::size_t sum(std::size_t a, std::size_t b) {
  if (b > kMostElements - a) poputil::reject("element-count", "intervals: {} elements and {} more, expected at most 2^62", a, b);
  return a + b;
}

std::size_t elements_of(std::span<const Interval> intervals) {
  std::size_t n = 0;
  for (const Interval& i : intervals) {
    if (i.end() < i.begin()) poputil::reject("interval-order", "intervals: [{}, {}) ends before it begins", i.begin(), i.end());
    n = sum(n, i.size());
  }
  return n;
}

struct Limits {
  std::size_t grain, partitions, min_elements, max_elements, max_per_region;
};

// How n elements are cut: into `parts` parts of whole grains (the last one may have less) that differ by one grain at most.
class Cuts {
 public:
  Cuts(std::size_t n, const Limits& limits) : n_(n), grain_(limits.grain), grains_(ceil_div(n, limits.grain)) {
    const std::size_t min_grains = std::max<std::size_t>(1, ceil_div(limits.min_elements, grain_));
    const std::size_t max_grains = std::max<std::size_t>(1, limits.max_elements / grain_);
    parts_ = std::clamp<std::size_t>(grains_ / min_grains, 1, limits.partitions);
    parts_ = std::max(parts_, ceil_div(grains_, max_grains));
    // Fewer parts whose largest is no larger.
    if (grains_ != 0) parts_ = ceil_div(grains_, ceil_div(grains_, parts_));
    if (n == 0) parts_ = 0;
    if (parts_ > kMostPieces || n / limits.max_per_region > kMostPieces)
      poputil::reject("region-count", "splitRegions: {} elements in parts of at most {} and pieces of at most {}: more than {} of them", n,
                      limits.max_elements, limits.max_per_region, kMostPieces);
  }
  std::size_t parts() const { return parts_; }
  std::size_t end(std::size_t part) const {
    const auto grains = static_cast<std::size_t>(static_cast<unsigned __int128>(grains_) * (part + 1) / parts_);
    return grains >= grains_ ? n_ : grains * grain_;
  }

 private:
  std::size_t n_, grain_, grains_, parts_;
};

// The size of the equal pieces, whole grains where that is possible, that a run of n elements is cut into.
std::size_t piece_of(std::size_t n, const Limits& limits) {
  if (n <= limits.max_per_region) return n;
  const std::size_t grain = limits.max_per_region >= limits.grain ? limits.grain : 1;
  const std::size_t most = limits.max_per_region / grain * grain;
  return std::min(most, ceil_div(ceil_div(n, ceil_div(n, most)), grain) * grain);
}

// Calls emit(part, interval, first of its region's piece?) for all intervals in order.
template <class Regions, class Emit>
void cut(const Regions& regions, const Cuts& cuts, const Limits& limits, const Emit& emit) {
  std::size_t part = 0, at = 0;
  for (const auto& region : regions) {
    const std::span<const Interval> intervals(region);
    std::size_t left = elements_of(intervals), interval = 0, offset = 0;
    while (left != 0) {
      const std::size_t run = std::min(left, cuts.end(part) - at);
      const std::size_t piece = piece_of(run, limits);
      for (std::size_t done = 0; done < run;) {
        const std::size_t piece_left = std::min(piece - done % piece, run - done);
        const Interval& in = intervals[interval];
        const std::size_t take = std::min(piece_left, in.size() - offset);
        if (take != 0) emit(part, Interval(in.begin() + offset, in.begin() + offset + take), done % piece == 0);
        done += take;
        offset += take;
        if (offset == in.size()) ++interval, offset = 0;
      }
      at += run;
      left -= run;
      if (at == cuts.end(part)) ++part;
    }
  }
}

Limits limits_of(unsigned grain, unsigned partitions, unsigned min_elements, unsigned max_elements, unsigned max_per_region) {
  if (partitions == 0) poputil::reject("no-partitions", "splitRegions: maxPartitions is 0, expected at least 1");
  if (max_per_region == 0) poputil::reject("empty-regions", "splitRegions: maxElementsPerRegion is 0, expected at least 1");
  return {std::max(1u, grain), partitions, min_elements, max_elements, max_per_region};
}

}  // namespace

void mergeAdjacentRegions(std::vector<Interval>& regions) {
  elements_of(regions);  // rejects what is none
  if (!std::is_sorted(regions.begin(), regions.end())) std::sort(regions.begin(), regions.end());
  std::size_t kept = 0;
  for (const Interval region : regions) {
    if (region.size() == 0) continue;
    if (kept != 0 && region.begin() <= regions[kept - 1].end())
      regions[kept - 1] = Interval(regions[kept - 1].begin(), std::max(regions[kept - 1].end(), region.end()));
    else
      regions[kept++] = region;
  }
  regions.resize(kept);
}

void mergeAdjacentRegions(std::vector<std::vector<Interval>>& mapping) {
  for (std::vector<Interval>& regions : mapping) mergeAdjacentRegions(regions);
}

std::vector<Interval> flattenIntervals(const std::vector<std::vector<Interval>>& intervals) {
  std::size_t n = 0;
  for (const auto& list : intervals) n += list.size();
  std::vector<Interval> out;
  out.reserve(n);
  for (const auto& list : intervals) out.insert(out.end(), list.begin(), list.end());
  return out;
}

std::size_t intervalSequenceNumElements(const std::vector<std::vector<Interval>>& seq) {
  std::size_t n = 0;
  for (const auto& list : seq) n = sum(n, elements_of(list));
  return n;
}

std::vector<Region> splitRegions(const Region& regions, unsigned grainSize, unsigned maxPartitions, unsigned minElementsPerPartition,
                                 unsigned maxElementsPerPartition, unsigned maxElementsPerRegion) {
  const Limits limits = limits_of(grainSize, maxPartitions, minElementsPerPartition, maxElementsPerPartition, maxElementsPerRegion);
  const Cuts cuts(elements_of(regions), limits);
  std::vector<std::span<const Interval>> one_each;
  one_each.reserve(regions.size());
  for (const Interval& region : regions) one_each.emplace_back(&region, 1);
  std::vector<Region> out(cuts.parts());
  cut(one_each, cuts, limits, [&](std::size_t part, const Interval& interval, bool) { out[part].push_back(interval); });
  return out;
}

std::vector<std::vector<Region>> splitRegions(const std::vector<Region>& regions, unsigned grainSize, unsigned maxPartitions,
                                              unsigned minElementsPerPartition, unsigned maxElementsPerPartition,
                                              unsigned maxElementsPerRegion) {
  const Limits limits = limits_of(grainSize, maxPartitions, minElementsPerPartition, maxElementsPerPartition, maxElementsPerRegion);
  const Cuts cuts(intervalSequenceNumElements(regions), limits);
  std::vector<std::vector<Region>> out(cuts.parts());
  cut(regions, cuts, limits, [&](std::size_t part, const Interval& interval, bool first) {
    if (first) out[part].emplace_back();
    out[part].back().push_back(interval);
  });
  return out;
}

std::vector<Region> splitRegionsBetweenWorkers(const poplar::Target& target, const Region& regions, unsigned grainSize,
                                               unsigned minElementsPerPartition, unsigned maxElementsPerPartition,
                                               unsigned maxElementsPerRegion) {
  return splitRegions(regions, grainSize, pando::poplibs::vertices_per_tile(target), minElementsPerPartition, maxElementsPerPartition,
                      maxElementsPerRegion);
}

std::vector<std::vector<Region>> splitRegionsBetweenWorkers(const poplar::Target& target, const std::vector<Region>& regions,
                                                            unsigned grainSize, unsigned minElementsPerPartition,
                                                            unsigned maxElementsPerPartition, unsigned maxElementsPerRegion) {
  return splitRegions(regions, grainSize, pando::poplibs::vertices_per_tile(target), minElementsPerPartition, maxElementsPerPartition,
                      maxElementsPerRegion);
}

std::vector<Interval> calculateUnshufflingIntervals(const std::vector<Interval>& intervals) {
  struct Moved {
    std::size_t from;
    Interval now;
  };
  std::vector<Moved> moved;
  moved.reserve(intervals.size());
  std::size_t at = 0;
  elements_of(intervals);  // rejects what is none
  for (const Interval& i : intervals) {
    moved.push_back({i.begin(), Interval(at, at + i.size())});
    at += i.size();
  }
  std::stable_sort(moved.begin(), moved.end(), [](const Moved& a, const Moved& b) { return a.from < b.from; });
  std::vector<Interval> out;
  out.reserve(moved.size());
  for (const Moved& m : moved) out.push_back(m.now);
  return out;
}

}  // namespace poputil
