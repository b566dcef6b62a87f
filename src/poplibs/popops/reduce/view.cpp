#include "poplibs/popops/reduce/view.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace popops::internal {

namespace {

// A contiguous part shorter than this is better gathered than made a region of a vertex.
constexpr std::size_t kShortRegion = 32;

constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();

// Dimensions longer than this are not looked along.
constexpr std::size_t kLongDimension = 65536;

struct Place {
  poplar::VariableRef variable;
  std::size_t offset;
};

// How far b lies behind a, as an unsigned number that wraps; kFar if these lie in different variables, or are the same element.
std::size_t step_between(const Place& a, const Place& b) {
  return a.variable == b.variable && a.offset != b.offset ? b.offset - a.offset : kFar;
}

std::size_t distance_of(std::size_t step) { return step == kFar ? kFar : std::min(step, -step); }

// A part of dimension `dimension`, whose neighbours are so far apart.
struct Factor {
  unsigned dimension;
  std::size_t size, distance;
};

std::vector<poplar::VariableInterval> regions_along(const poplar::Tensor& in, unsigned dimension, std::size_t size) {
  std::vector<std::size_t> begins(in.rank(), 0), ends(in.rank(), 1);
  ends[dimension] = size;
  return in.slice(begins, ends).getVarRegions();
}

// Every run-th of the elements.
std::vector<Place> places_of(const std::vector<poplar::VariableInterval>& regions, std::size_t run) {
  std::vector<Place> places;
  std::size_t wait = 0;
  for (const poplar::VariableInterval& r : regions) {
    std::size_t at = wait;
    for (; at < r.interval.size(); at += run) places.push_back({r.var, r.interval.begin() + at});
    wait = at - r.interval.size();
  }
  return places;
}

// The factors of a dimension, the outermost first: each as long as its elements are equally far apart. Without `apart`, the dimension
// itself.
void append_factors(const poplar::Tensor& in, unsigned dimension, bool apart, std::vector<Factor>& factors) {
  const std::size_t size = in.dim(dimension);
  if (size == 1) return factors.push_back({dimension, 1, 0});
  const std::size_t looked_at = size > kLongDimension || !apart ? 2 : size;
  const std::vector<poplar::VariableInterval> regions = regions_along(in, dimension, looked_at);
  std::size_t run = regions[0].interval.size();
  if (looked_at < size || size % run != 0) run = run > 1 ? size : 1;
  std::vector<Factor> inner;
  if (run > 1) inner.push_back({dimension, run, 1});
  std::vector<Place> places = places_of(regions, run);
  if (looked_at < size && run == 1) inner.push_back({dimension, size, distance_of(step_between(places[0], places[1]))}), places.resize(1);
  while (places.size() > 1) {
    const std::size_t n = places.size(), step = step_between(places[0], places[1]);
    std::size_t together = 2;
    while (together < n && step_between(places[together - 1], places[together]) == step) ++together;
    if (n % together != 0) together = n;
    inner.push_back({dimension, together, distance_of(step)});
    for (std::size_t i = 0; i < n / together; ++i) places[i] = places[i * together];
    places.resize(n / together);
  }
  factors.insert(factors.end(), inner.rbegin(), inner.rend());
}

}  // namespace

std::vector<unsigned> inverse_of(const std::vector<unsigned>& permutation) {
  std::vector<unsigned> inverse(permutation.size());
  for (unsigned i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = i;
  return inverse;
}

ReductionView view_of(const poplar::Tensor& in, const std::vector<bool>& reduced, bool blocks) {
  ReductionView view;
  std::vector<Factor> factors;
  for (unsigned d = 0; d < in.rank(); ++d)
    if (in.numElements() > 0)
      append_factors(in, d, blocks, factors);
    else
      factors.push_back({d, in.dim(d), 0});
  std::vector<std::size_t> shape;
  std::vector<unsigned> number_kept;
  for (const Factor& f : factors) {
    shape.push_back(f.size);
    number_kept.push_back(static_cast<unsigned>(view.kept_shape.size()));
    if (!reduced[f.dimension]) view.kept_shape.push_back(f.size);
  }
  std::vector<unsigned> order(factors.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return factors[a].distance > factors[b].distance; });
  for (const unsigned f : order) {
    const std::size_t size = shape[f];
    const bool is_reduced = reduced[factors[f].dimension];
    (is_reduced ? view.inputs_per_output : view.outputs) *= size;
    if (!is_reduced) view.kept_order.push_back(number_kept[f]);
    if (size == 1) continue;
    if (!view.dims.empty() && view.dims.back().reduced == is_reduced)
      view.dims.back().size *= size;
    else
      view.dims.push_back({size, is_reduced});
  }
  view.in = in.reshape(shape).dimShuffle(order).flatten();
  return view;
}

TileIntervals intervals_on_tiles(const poplar::Graph& graph, const poplar::Tensor& flat) {
  TileIntervals mapping{graph.getTileMapping(flat), true};
  const std::vector<poplar::Interval> regions = flat.getContiguousRegions();
  mapping.lies_whole = regions.size() <= std::max<std::size_t>(1, flat.numElements() / kShortRegion);
  if (regions.size() <= 1 || !mapping.lies_whole) return mapping;
  for (std::vector<poplar::Interval>& intervals : mapping.of_tile) {
    std::vector<poplar::Interval> cut;
    for (const poplar::Interval& i : intervals) {
      auto region = std::upper_bound(regions.begin(), regions.end(), i.begin(),
                                     [](std::size_t at, const poplar::Interval& r) { return at < r.end(); });
      for (std::size_t at = i.begin(); at < i.end(); at = cut.back().end(), ++region)
        cut.emplace_back(at, std::min(i.end(), region->end()));
    }
    intervals = std::move(cut);
  }
  return mapping;
}

}  // namespace popops::internal
