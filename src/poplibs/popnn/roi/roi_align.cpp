// Channels are spread over the tiles: a tile has its channels of all images and of all regions, so that it does not matter which image a
// region is of.
#include <pando/ownership.hpp>
#include <popnn/experimental/ROIAlign.hpp>
#include <popops/Cast.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"

namespace popnn::experimental {

using namespace poplar;
using program::Sequence;

namespace {

std::string described(const Tensor& t) {
  return t.valid() ? t.elementType().toString() + " " + t.shapeToString() : std::string("an invalid tensor");
}

void check(const Tensor& images, const Tensor& rois, const Tensor& index, const roiAlignParams& params, const char* where) {
  if (!images.valid() || images.rank() != 4 || images.numElements() == 0 || (images.elementType() != FLOAT && images.elementType() != HALF))
    poputil::reject("roi-images", "{}: the images are {}; expected float or half {{n, channels, height, width}}, none of them 0", where,
                    described(images));
  if (!rois.valid() || rois.rank() != 2 || rois.dim(0) == 0 || rois.dim(1) != 4 || rois.elementType() != images.elementType())
    poputil::reject("roi-regions", "{}: the regions are {}; expected {} {{number, 4}}, one at least", where, described(rois),
                    images.elementType().toString());
  if (!index.valid() || index.rank() != 1 || index.dim(0) != rois.dim(0) ||
      (index.elementType() != INT && index.elementType() != UNSIGNED_INT))
    poputil::reject("roi-index", "{}: the numbers of images are {}; expected int or unsigned int {{{}}}", where, described(index),
                    rois.dim(0));
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  if (params.alignedHeight_ == 0 || params.alignedWidth_ == 0 || params.alignedHeight_ > kMost || params.alignedWidth_ > kMost ||
      params.samplingRatio_ > kMost)
    poputil::reject("roi-bins", "{}: {} x {} bins of {} points in each direction; expected 1 to {} bins and 0 to {} points", where,
                    params.alignedHeight_, params.alignedWidth_, params.samplingRatio_, kMost, kMost);
  if (!std::isfinite(params.spatialScale_))
    poputil::reject("roi-scale", "{}: spatialScale is {}; expected a finite number", where, params.spatialScale_);
}

void set_grid(Graph& graph, const VertexRef& v, const Tensor& images, const roiAlignParams& params) {
  graph.setInitialValue(v["height"], static_cast<unsigned>(images.dim(2)));
  graph.setInitialValue(v["width"], static_cast<unsigned>(images.dim(3)));
  graph.setInitialValue(v["binsHigh"], static_cast<unsigned>(params.alignedHeight_));
  graph.setInitialValue(v["binsWide"], static_cast<unsigned>(params.alignedWidth_));
  graph.setInitialValue(v["points"], static_cast<unsigned>(params.samplingRatio_));
  graph.setInitialValue(v["scale"], params.spatialScale_);
  graph.setInitialValue(v["aligned"], params.aligned_);
}

struct Regions {
  Tensor rois, image;
};

Regions in_float(Graph& graph, const Tensor& rois, const Tensor& index, Sequence& prog, const DebugContext& debug) {
  return {rois.elementType() == FLOAT ? rois : popops::cast(graph, rois, FLOAT, prog, {debug, "regions"}), index.reinterpret(UNSIGNED_INT)};
}

// Calls f(channel, tile).
template <class F>
void for_each_channel(const Graph& graph, std::size_t channels, const F& f) {
  const std::size_t tiles = graph.getTarget().getNumTiles(), used = std::min(tiles, channels);
  for (std::size_t c = 0; c < channels; ++c) f(c, static_cast<unsigned>(c * used / channels));
}

}  // namespace

Tensor roiAlignFwd(Graph& graph, Sequence& prog, Tensor& bottomData, Tensor& bottomRois, Tensor& bottomBatchIndex,
                   const roiAlignParams& params, const DebugContext& debugContext) {
  check(bottomData, bottomRois, bottomBatchIndex, params, "popnn::experimental::roiAlignFwd");
  const DebugContext debug(debugContext, "roiAlign");
  const std::size_t channels = bottomData.dim(1), number = bottomRois.dim(0);
  const Regions regions = in_float(graph, bottomRois, bottomBatchIndex, prog, debug);
  const Tensor out =
      graph.addVariable(bottomData.elementType(), {channels, number, params.alignedHeight_, params.alignedWidth_}, {debug, "bins"});
  const ComputeSet cs = graph.addComputeSet({debug, "forward"});
  const std::size_t parts = std::min<std::size_t>(number, pando::poplibs::vertices_per_tile(graph.getTarget()));
  for_each_channel(graph, channels, [&](std::size_t c, unsigned tile) {
    graph.setTileMapping(out[c], tile);
    for (std::size_t p = 0; p < parts; ++p) {
      const Interval mine(number * p / parts, number * (p + 1) / parts);
      const VertexRef v = graph.addVertex(cs, "popnn::RoiAlign<" + bottomData.elementType().toString() + ">",
                                          {{"images", bottomData.slice(c, c + 1, 1).flatten()},
                                           {"rois", regions.rois.slice(mine).flatten()},
                                           {"image", regions.image.slice(mine)},
                                           {"out", out[c].slice(mine).flatten()}});
      set_grid(graph, v, bottomData, params);
      graph.setTileMapping(v, tile);
    }
  });
  prog.add(program::Execute(cs, debug));
  return out.dimShuffle({1, 0, 2, 3});
}

Tensor roiAlignInputGradient(Graph& graph, Sequence& prog, Tensor& bottomData, Tensor& bottomRois, Tensor& bottomBatchIndex,
                             Tensor& topDataGrad, const roiAlignParams& params, const DebugContext& debugContext) {
  const char* where = "popnn::experimental::roiAlignInputGradient";
  pando::require_own(graph, bottomData, where);
  check(bottomData, bottomRois, bottomBatchIndex, params, where);
  const DebugContext debug(debugContext, "roiAlignGradient");
  const std::size_t n = bottomData.dim(0), channels = bottomData.dim(1);
  const std::vector<std::size_t> shape = {bottomRois.dim(0), channels, params.alignedHeight_, params.alignedWidth_};
  const Type type = bottomData.elementType();
  if (!topDataGrad.valid() || topDataGrad.shape() != shape || topDataGrad.elementType() != type)
    poputil::reject("roi-gradient", "{}: the gradient is {}; expected {} {{{}, {}, {}, {}}}", where, described(topDataGrad),
                    type.toString(), shape[0], shape[1], shape[2], shape[3]);
  const Regions regions = in_float(graph, bottomRois, bottomBatchIndex, prog, debug);
  const Tensor sums = graph.addVariable(FLOAT, {channels, n, bottomData.dim(2), bottomData.dim(3)}, {debug, "sums"});
  const ComputeSet cs = graph.addComputeSet({debug, "backward"});
  for_each_channel(graph, channels, [&](std::size_t c, unsigned tile) {
    graph.setTileMapping(sums[c], tile);
    const VertexRef v = graph.addVertex(cs, "popnn::RoiAlignGradient<" + type.toString() + ">",
                                        {{"images", sums[c].flatten()},
                                         {"rois", regions.rois.flatten()},
                                         {"image", regions.image},
                                         {"gradient", topDataGrad.slice(c, c + 1, 1).flatten()}});
    set_grid(graph, v, bottomData, params);
    graph.setTileMapping(v, tile);
  });
  prog.add(program::Execute(cs, debug));
  const Tensor out = sums.dimShuffle({1, 0, 2, 3});
  return type == FLOAT ? out : popops::cast(graph, out, type, prog, {debug, "gradient"});
}

}  // namespace popnn::experimental
