#include "popops/NormaliseImage.hpp"

#include <poputil/Util.hpp>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;

void check_image(const char* where, const Type& type, const std::vector<std::size_t>& shape) {
  if (type != UNSIGNED_CHAR && type != HALF && type != FLOAT)
    internal::fail(where, "an image of type " + type.toString() + "; expected unsigned char, half or float");
  if (shape.empty() || shape.back() != 3) internal::fail(where, "the last dimension of an image is its 3 channels");
}

// All pixels in order, in equal shares of a multiple of four.
internal::Mapping linear(std::size_t pixels, unsigned tiles) {
  const std::size_t share = ((pixels + tiles - 1) / tiles + 3) / 4 * 4;
  internal::Mapping mapping(tiles);
  for (std::size_t begin = 0, tile = 0; begin < pixels; begin += share, ++tile)
    mapping[tile].emplace_back(begin, std::min(pixels, begin + share));
  return mapping;
}

}  // namespace

Tensor createNormaliseImageInput(Graph& graph, const Type& type, const ArrayRef<std::size_t> shape, const DebugContext& debug) {
  check_image("popops::createNormaliseImageInput", type, std::vector<std::size_t>(shape.begin(), shape.end()));
  const Tensor t = graph.addVariable(type, shape, {debug, "image"});
  graph.setTileMapping(t.flatten(), internal::of_elements(linear(t.numElements() / 3, graph.getTarget().getNumTiles()), 3));
  return t;
}

Tensor normaliseImage(Graph& graph, program::Sequence& prog, Tensor image, float scale, Tensor offsets, Tensor scales,
                      const DebugContext& debug) {
  constexpr const char* where = "popops::normaliseImage";
  const Type in_type = image.elementType(), type = offsets.elementType();
  check_image(where, in_type, image.shape());
  for (const Tensor& t : {offsets, scales})
    if (t.rank() != 1 || t.dim(0) != 3 || t.elementType() != type)
      internal::fail(where, "offsets and scales are " + offsets.elementType().toString() + offsets.shapeToString() + " and " +
                                scales.elementType().toString() + scales.shapeToString() + "; expected shape {3} and one type");
  if (in_type == UNSIGNED_CHAR ? type != HALF && type != FLOAT : type != in_type)
    internal::fail(where, "offsets of type " + type.toString() + " for an image of type " + in_type.toString());
  std::vector<std::size_t> shape = image.shape();
  shape.back() = 4;
  const Tensor result = graph.addVariable(type, shape, {debug, "normalised"});
  if (result.numElements() == 0) return result;
  const Tensor from = image.flatten(), to = result.flatten();
  const internal::Mapping pixels = internal::spread(internal::owners_of(graph, from, 3), graph.getTarget().getNumTiles());
  graph.setTileMapping(to, internal::of_elements(pixels, 4));
  const ComputeSet cs = graph.addComputeSet({debug, "NormaliseImage"});
  const std::string vertex = "popops::NormaliseImage<" + in_type.toString() + "," + type.toString() + ">";
  for (unsigned tile = 0; tile < pixels.size(); ++tile) {
    if (pixels[tile].empty()) continue;
    for (const auto& part : poputil::splitRegionsBetweenWorkers(graph.getTarget(), pixels[tile], 4, 8)) {
      std::vector<Interval> in, out;
      for (const Interval& i : part) {
        in.emplace_back(3 * i.begin(), 3 * i.end());
        out.emplace_back(4 * i.begin(), 4 * i.end());
      }
      const VertexRef v = graph.addVertex(
          cs, vertex, {{"in", from.slices(in)}, {"out", to.slices(out)}, {"offsets", offsets}, {"scales", scales}, {"scale", scale}});
      graph.setTileMapping(v, tile);
    }
  }
  prog.add(program::Execute(cs, {debug, "NormaliseImage"}));
  return result;
}

}  // namespace popops
