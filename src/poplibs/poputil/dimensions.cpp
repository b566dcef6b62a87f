// Dimensions: how they lie over the tiles; split and joined.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "poplibs/poputil/reject.h"
#include "poputil/TileMapping.hpp"
#include "poputil/Util.hpp"
#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using Mapping = Graph::TileToTensorMapping;

void check_dimension(const char* function, const Tensor& t, unsigned dimension) {
  if (dimension >= t.rank())
    poputil::reject("no-such-dimension", "{}: dimension {} of a tensor of shape {}", function, dimension, t.shapeToString());
}

// A tensor's elements [begin, end), and the tile or IPU that has them.
struct Owned {
  std::size_t begin, end, owner;
};

std::vector<Owned> in_order(const Mapping& mapping, std::size_t tiles_per_owner) {
  std::vector<Owned> all;
  for (std::size_t tile = 0; tile < mapping.size(); ++tile)
    for (const Interval& r : mapping[tile])
      if (r.size() != 0) all.push_back({r.begin(), r.end(), tile / tiles_per_owner});
  std::sort(all.begin(), all.end(), [](const Owned& a, const Owned& b) { return a.begin < b.begin; });
  std::vector<Owned> joined;
  for (const Owned& r : all) {
    if (!joined.empty() && joined.back().owner == r.owner && joined.back().end == r.begin)
      joined.back().end = r.end;
    else
      joined.push_back(r);
  }
  return joined;
}

// A dimension of `size` elements that are `inner` apart: each block of `size` rows of `inner` elements must have all its rows cut
// alike. Rows that are in one piece are counted, not looked at one by one.
bool is_split(const std::vector<Owned>& regions, std::size_t size, std::size_t inner) {
  std::vector<Owned> first;  // the first row of the block, in pieces
  std::size_t at = 0;        // of the first row: the piece that comes next in the current row
  for (const Owned& r : regions)
    for (std::size_t begin = r.begin; begin < r.end;) {
      const std::size_t row = begin / inner % size, column = begin % inner, left = r.end - begin;
      if (column == 0 && row == 0 && left >= size * inner) {
        begin += left / (size * inner) * (size * inner);
        continue;
      }
      const bool whole = column == 0 && left >= inner;
      const Owned piece{column, whole ? inner : std::min(inner, column + left), r.owner};
      if (column == 0) at = 0;
      if (row == 0) {
        if (column == 0) first.clear();
        first.push_back(piece);
      } else {
        if (at == first.size() || first[at].begin != piece.begin || first[at].end != piece.end || first[at].owner != piece.owner)
          return true;
        ++at;
      }
      begin += whole ? std::min(left / inner, size - row) * inner : piece.end - column;
    }
  return false;
}

bool dimension_is_split(const Graph& graph, const Tensor& t, unsigned dimension, std::size_t tiles_per_owner) {
  if (t.numElements() == 0) return false;
  std::size_t inner = 1;
  for (unsigned d = dimension + 1; d < t.rank(); ++d) inner *= t.dim(d);
  return is_split(in_order(graph.getTileMapping(t), tiles_per_owner), t.dim(dimension), inner);
}

// The indices, along a dimension of `size` elements that are `inner` elements apart, of flattened elements [begin, end).
void add_indices(const Interval& elements, std::size_t inner, std::size_t size, std::vector<Interval>& indices) {
  const std::size_t first = elements.begin() / inner, last = (elements.end() - 1) / inner;
  if (last - first + 1 >= size) {
    indices.assign(1, Interval(0, size));
    return;
  }
  const std::size_t begin = first % size, end = last % size + 1;
  if (begin < end) {
    indices.emplace_back(begin, end);
  } else {
    indices.emplace_back(0, end);
    indices.emplace_back(begin, size);
  }
}

}  // namespace

bool dimIsSplitOverTiles(const Graph& graph, const Tensor& t, unsigned dimension) {
  check_dimension("dimIsSplitOverTiles", t, dimension);
  return dimension_is_split(graph, t, dimension, 1);
}

bool dimIsSplitOverIPUs(const Graph& graph, const Tensor& t, unsigned dimension) {
  check_dimension("dimIsSplitOverIPUs", t, dimension);
  return dimension_is_split(graph, t, dimension, graph.getTarget().getTilesPerIPU());
}

Tensor createBroadcastOperand(Graph& graph, const Tensor& fullTensor, const poplar::Type& type, unsigned dim, bool ditherMapping,
                              const poplar::DebugContext& debugContext) {
  check_dimension("createBroadcastOperand", fullTensor, dim);
  const std::vector<std::size_t> shape = fullTensor.shape();
  Tensor out = graph.addVariable(type, {shape[dim]}, debugContext);
  const poplar::Target& target = graph.getTarget();
  if (fullTensor.numElements() == 0) {
    mapTensorLinearly(graph, out);
    return out;
  }
  std::size_t inner = 1;
  for (std::size_t d = dim + 1; d < shape.size(); ++d) inner *= shape[d];
  const unsigned tiles = target.getNumTiles();
  const unsigned start = ditherMapping ? static_cast<unsigned>(chooseMappingOffset(tiles, shape)) : 0;
  TensorUseTracker tracker(tiles, start);
  const Mapping mapping = graph.getTileMapping(fullTensor);
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    std::vector<Interval> indices;
    for (const Interval& elements : mapping[tile]) {
      add_indices(elements, inner, shape[dim], indices);
      if (indices.size() == 1 && indices[0].size() == shape[dim]) break;
    }
    mergeAdjacentRegions(indices);
    for (const Interval& i : indices) tracker.add(graph, tile, out.slice(i));
  }
  const unsigned grain = static_cast<unsigned>(std::max<std::size_t>(1, 8 / target.getTypeSize(type)));
  tracker.mapTensorsByUse(graph, grain, grain, false, TensorUseTracker::MappingMethod::ConstrainMappingToUsedTiles);
  return out;
}

Tensor factorDims(const Tensor& t, const std::vector<std::size_t>& factors, unsigned startDim) {
  if (startDim + factors.size() > t.rank())
    poputil::reject("factor-count", "factorDims: {} factors from dimension {} for shape {}", factors.size(), startDim, t.shapeToString());
  const std::vector<std::size_t> shape = t.shape();
  std::vector<std::size_t> split;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::size_t size = shape[startDim + i];
    if (factors[i] == 0 || size % factors[i] != 0)
      poputil::reject("factor", "factorDims: {} does not divide dimension {} of shape {}", factors[i], startDim + i, t.shapeToString());
    split.push_back(size / factors[i]);
    split.push_back(factors[i]);
  }
  const unsigned n = static_cast<unsigned>(factors.size());
  std::vector<unsigned> from(n), to(n);  // the quotients, to the front
  for (unsigned i = 0; i < n; ++i) from[i] = startDim + 2 * i, to[i] = startDim + i;
  return t.reshapePartial(startDim, startDim + n, split).dimShufflePartial(from, to);
}

Tensor unfactorDims(const Tensor& t, unsigned numDims, unsigned startDim) {
  if (startDim + std::uint64_t{2} * numDims > t.rank())
    poputil::reject("factor-count", "unfactorDims: {} dimensions from {} for shape {}", numDims, startDim, t.shapeToString());
  std::vector<unsigned> from(numDims), to(numDims);
  std::vector<std::size_t> joined;
  for (unsigned i = 0; i < numDims; ++i) {
    from[i] = startDim + i, to[i] = startDim + 2 * i;
    joined.push_back(t.dim(startDim + i) * t.dim(startDim + numDims + i));
  }
  return t.dimShufflePartial(from, to).reshapePartial(startDim, startDim + 2 * numDims, joined);
}

}  // namespace poputil
