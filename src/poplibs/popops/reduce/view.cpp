#include "poplibs/popops/reduce/view.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace popops::internal {

namespace {

// A contiguous part shorter than this is better gathered than made a region of a vertex.
constexpr std::size_t kShortRegion = 32;

constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max();

// Elements between the first and the second index of a dimension; kFar if these lie in different variables, or are the same element.
std::size_t distance_in(const poplar::Tensor& in, unsigned dimension) {
  std::vector<std::size_t> begins(in.rank(), 0), ends(in.rank(), 1);
  ends[dimension] = 2;
  const std::vector<poplar::VariableInterval> regions = in.slice(begins, ends).getVarRegions();
  if (regions.size() == 1) return regions[0].interval.size() == 2 ? 1 : kFar;
  if (regions.size() != 2 || regions[0].var != regions[1].var) return kFar;
  const std::size_t a = regions[0].interval.begin(), b = regions[1].interval.begin();
  return a == b ? kFar : a < b ? b - a : a - b;
}

}  // namespace

std::vector<unsigned> inverse_of(const std::vector<unsigned>& permutation) {
  std::vector<unsigned> inverse(permutation.size());
  for (unsigned i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = i;
  return inverse;
}

ReductionView view_of(const poplar::Tensor& in, const std::vector<bool>& reduced) {
  ReductionView view;
  std::vector<unsigned> order(in.rank());
  std::iota(order.begin(), order.end(), 0);
  if (in.numElements() > 0) {
    std::vector<std::size_t> distance(in.rank(), 0);
    for (unsigned d = 0; d < in.rank(); ++d)
      if (in.dim(d) > 1) distance[d] = distance_in(in, d);
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return distance[a] > distance[b]; });
  }
  std::vector<unsigned> number_kept(in.rank());
  for (unsigned d = 0, n = 0; d < in.rank(); ++d) number_kept[d] = reduced[d] ? n : n++;
  for (const unsigned d : order) {
    const std::size_t size = in.dim(d);
    (reduced[d] ? view.inputs_per_output : view.outputs) *= size;
    if (!reduced[d]) view.kept_order.push_back(number_kept[d]);
    if (size == 1) continue;
    if (!view.dims.empty() && view.dims.back().reduced == reduced[d]) view.dims.back().size *= size;
    else view.dims.push_back({size, reduced[d]});
  }
  view.in = in.dimShuffle(order).flatten();
  return view;
}

std::vector<std::vector<poplar::Interval>> intervals_on_tiles(const poplar::Graph& graph, const poplar::Tensor& flat) {
  std::vector<std::vector<poplar::Interval>> mapping = graph.getTileMapping(flat);
  const std::vector<poplar::Interval> regions = flat.getContiguousRegions();
  if (regions.size() <= 1 || regions.size() > flat.numElements() / kShortRegion) return mapping;
  for (std::vector<poplar::Interval>& intervals : mapping) {
    std::vector<poplar::Interval> cut;
    for (const poplar::Interval& i : intervals) {
      auto region = std::upper_bound(regions.begin(), regions.end(), i.begin(), [](std::size_t at, const poplar::Interval& r) { return at < r.end(); });
      for (std::size_t at = i.begin(); at < i.end(); at = cut.back().end(), ++region) cut.emplace_back(at, std::min(i.end(), region->end()));
    }
    intervals = std::move(cut);
  }
  return mapping;
}

}  // namespace popops::internal
