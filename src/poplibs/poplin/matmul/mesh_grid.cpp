#include <poplin/MeshGrid.hpp>
#include <poputil/exceptions.hpp>
#include "poplibs/poputil/reject.h"

#include <algorithm>

namespace poplin {

using poplar::Tensor;

Tensor linspace(poplar::Graph& graph, const poplar::Type& type, float left, float right, size_t count,
                const poplar::DebugContext& debugContext) {
  if (type != poplar::FLOAT && type != poplar::HALF)
    poputil::reject("grid-type", "{}", "linspace: type " + type.toString() + ", expected float or half");
  if (count == 0) return graph.addVariable(type, {0}, debugContext);
  std::vector<float> values(count);
  const double distance = count > 1 ? (static_cast<double>(right) - left) / static_cast<double>(count - 1) : 0;
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(left + distance * static_cast<double>(i));
  const Tensor t = graph.addConstant(type, {count}, poplar::ArrayRef<float>(values), debugContext);
  const unsigned tiles = graph.getTarget().getNumTiles();
  const size_t share = std::max<size_t>((count + tiles - 1) / tiles, 4);  // at least 8 bytes on a tile
  for (size_t begin = 0; begin < count; begin += share)
    graph.setTileMapping(t.slice(begin, std::min(count, begin + share)), static_cast<unsigned>(begin / share));
  return t;
}

std::vector<Tensor> meshgrid2d(poplar::Graph&, Tensor x, Tensor y) {
  if (x.rank() != 1 || y.rank() != 1)
    poputil::reject("grid-shape", "{}",
                    "meshgrid2d: x has shape " + x.shapeToString() + ", y has shape " + y.shapeToString() + ", expected rank 1");
  const auto width = static_cast<unsigned>(x.dim(0)), height = static_cast<unsigned>(y.dim(0));
  return {x.expand({0}).broadcast(height, 0), y.expand({1}).broadcast(width, 1)};
}

}  // namespace poplin
