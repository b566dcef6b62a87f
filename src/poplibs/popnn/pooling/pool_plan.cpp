#include "poplibs/popnn/pooling/pool_plan.h"

#include <algorithm>
#include <poputil/exceptions.hpp>

#include "poplibs/popnn/rows/placement.h"
#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"

namespace popnn::internal {

using namespace poplar;
using poputil::poplibs_error;

namespace {

constexpr std::size_t kLeastElements = 32;     // of a tile's work
constexpr std::size_t kElementsToSplit = 256;  // of a vertex, before a tile gets another

// Grows the number of parts of the longest parts until there are enough, or parts would be too small. `whole`: the outer dimensions alone
// are cut, as far as they go: what a part reads lies in one piece.
Extents choose_parts(const Extents& extent, std::size_t wanted, std::size_t channels, bool whole) {
  Extents parts = {1, 1, 1};
  if (whole) {
    parts[0] = std::min(extent[0], wanted);
    parts[1] = parts[0] == extent[0] ? std::min(extent[1], (wanted + parts[0] - 1) / parts[0]) : 1;
    return parts;
  }
  const auto length = [&](std::size_t i) { return (extent[i] + parts[i] - 1) / parts[i]; };
  while (parts[0] * parts[1] * parts[2] < wanted) {
    std::size_t best = 3;
    for (std::size_t i = 0; i < 3; ++i)
      if (length(i) > 1 && (i < 2 || length(i) * channels >= 2 * kLeastElements || (length(0) == 1 && length(1) == 1)) &&
          (best == 3 || length(i) > length(best)))
        best = i;
    if (best == 3) break;
    ++parts[best];
  }
  return parts;
}

// Images whole, on as many tiles as possible, then cut between a tile's workers.
std::vector<PoolUnit> whole_images(std::size_t images, const Extents& extent, std::size_t elements, std::size_t tiles, std::size_t workers,
                                   const std::vector<TileRun>& runs, std::size_t image_size) {
  const std::size_t used = std::min(images, tiles);
  std::vector<std::size_t> starts(used);
  for (std::size_t i = 0; i < used; ++i) starts[i] = images * i / used * image_size;
  const std::vector<unsigned> placed = place_units(runs, starts, tiles);
  std::vector<PoolUnit> out;
  for (std::size_t i = 0; i < used; ++i) {
    const std::size_t begin = images * i / used, end = images * (i + 1) / used;
    const std::size_t parts = std::max<std::size_t>(1, std::min({workers, end - begin, (end - begin) * elements / kElementsToSplit}));
    for (std::size_t p = 0; p < parts; ++p)
      out.push_back({placed[i],
                     {begin + (end - begin) * p / parts, begin + (end - begin) * (p + 1) / parts},
                     {Interval(0, extent[0]), Interval(0, extent[1]), Interval(0, extent[2])}});
  }
  return out;
}

std::vector<PoolUnit> parts_of_images(std::size_t images, const Extents& extent, const Extents& parts, std::size_t tiles,
                                      const std::vector<TileRun>& runs, const Tensor& from) {
  const auto part = [&](std::size_t i, std::size_t p) { return Interval(extent[i] * p / parts[i], extent[i] * (p + 1) / parts[i]); };
  std::vector<PoolUnit> out;
  std::vector<std::size_t> starts;
  for (std::size_t n = 0; n < images; ++n)
    for (std::size_t d = 0; d < parts[0]; ++d)
      for (std::size_t h = 0; h < parts[1]; ++h)
        for (std::size_t w = 0; w < parts[2]; ++w) {
          out.push_back({0, {n, n + 1}, {part(0, d), part(1, h), part(2, w)}});
          // Where the same share of the operand begins, in the order of its elements.
          const std::size_t row = from.dim(3),
                            at = (n * from.dim(1) + from.dim(1) * d / parts[0]) * from.dim(2) + from.dim(2) * h / parts[1];
          starts.push_back((at * row + row * w / parts[2]) * from.dim(4));
        }
  // Parts of a row come before the next row, so starts need not ascend: then the order of units is as good.
  const bool ascending = std::is_sorted(starts.begin(), starts.end());
  const std::vector<unsigned> placed = place_units(ascending ? runs : std::vector<TileRun>(), starts, tiles);
  for (std::size_t u = 0; u < out.size(); ++u) out[u].tile = placed[u];
  return out;
}

}  // namespace

std::vector<PoolUnit> plan_units(const Graph& graph, const Tensor& images, const Extents& extent, const PoolOptions& options) {
  const std::size_t tiles = graph.getTarget().getNumTiles(), workers = pando::poplibs::vertices_per_tile(graph.getTarget());
  const std::size_t n = images.dim(0), channels = images.dim(4), elements = extent[0] * extent[1] * extent[2] * channels,
                    total = n * elements;
  const std::vector<TileRun> runs = options.follow ? runs_of(graph, images) : std::vector<TileRun>();
  const std::size_t wanted = std::max(std::min(tiles, total / kLeastElements), std::min(tiles * workers, total / kElementsToSplit));
  const std::size_t per_image = (wanted + n - 1) / n;
  if (10 * n >= 9 * wanted || per_image <= 1) return whole_images(n, extent, elements, tiles, workers, runs, images.numElements() / n);
  return parts_of_images(n, extent, choose_parts(extent, per_image, channels, tiles == 1 && options.whole_parts), tiles, runs, images);
}

PoolGeometry geometry_of(const pooling::PoolParams& params, const std::string& function) {
  const std::vector<std::size_t> windows = pooling::getOutputFieldShape(params);
  if (params.dType != FLOAT && params.dType != HALF)
    poputil::reject("data-type", "{}", function + ": dType is " + params.dType.toString() + ", expected float or half");
  PoolGeometry g;
  g.operation = static_cast<int>(params.poolingType);
  PoolDimension* dimensions[3] = {&g.depth, &g.height, &g.width};
  const std::size_t n = params.getNumFieldDims();
  for (std::size_t i = 0; i < n; ++i) {
    PoolDimension& d = *dimensions[3 - n + i];
    d.field = d.in_size = static_cast<int>(params.inputFieldShape[i]);
    d.kernel = static_cast<int>(params.kernelShape[i]);
    d.stride = static_cast<int>(params.stride[i]);
    d.padding = params.inputTruncationOrPaddingLower[i];
    d.out_size = static_cast<int>(windows[i]);
  }
  return g;
}

Interval elements_of(const PoolDimension& d, const Interval& windows) {
  const int first = static_cast<int>(windows.begin()) * d.stride - d.padding;
  const int last = (static_cast<int>(windows.end()) - 1) * d.stride - d.padding + d.kernel;
  const int begin = std::clamp(first, 0, d.field - 1), end = std::clamp(last, begin + 1, d.field);
  return Interval(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
}

Interval windows_of(const PoolDimension& d, const Interval& elements, std::size_t windows) {
  const int first = ceil_div(static_cast<int>(elements.begin()) + d.padding - d.kernel + 1, d.stride);
  const int last = floor_div(static_cast<int>(elements.end()) - 1 + d.padding, d.stride) + 1;
  const int count = static_cast<int>(windows), begin = std::clamp(first, 0, count - 1), end = std::clamp(last, begin + 1, count);
  return Interval(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
}

Tensor part_of(const Tensor& images, const Interval& range, const std::array<Interval, 3>& box) {
  return images
      .slice({range.begin(), box[0].begin(), box[1].begin(), box[2].begin(), 0},
             {range.end(), box[0].end(), box[1].end(), box[2].end(), images.dim(4)})
      .flatten();
}

Tensor add_images(Graph& graph, const Type& type, const std::vector<PoolUnit>& units, std::size_t images, const Extents& extent,
                  std::size_t channels, const DebugContext& debug) {
  const Tensor out = graph.addVariable(type, {images, extent[0], extent[1], extent[2], channels}, debug);
  Graph::TileToTensorMapping mapping(graph.getTarget().getNumTiles());
  const auto add = [&](std::vector<Interval>& to, std::size_t begin, std::size_t end) {
    if (!to.empty() && to.back().end() == begin)
      to.back() = Interval(to.back().begin(), end);
    else
      to.emplace_back(begin, end);
  };
  for (const PoolUnit& u : units)
    for (std::size_t n = u.images.begin(); n < u.images.end(); ++n)
      for (std::size_t d = u.box[0].begin(); d < u.box[0].end(); ++d)
        for (std::size_t h = u.box[1].begin(); h < u.box[1].end(); ++h) {
          const std::size_t row = ((n * extent[0] + d) * extent[1] + h) * extent[2];
          add(mapping[u.tile], (row + u.box[2].begin()) * channels, (row + u.box[2].end()) * channels);
        }
  graph.setTileMapping(out, mapping);
  return out;
}

}  // namespace popnn::internal
