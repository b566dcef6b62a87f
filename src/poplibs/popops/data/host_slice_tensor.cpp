#include "popops/HostSliceTensor.hpp"

#include <algorithm>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;

constexpr std::size_t kTransferBytes = 64;

// Which tile takes piece `piece`.
unsigned tile_of(std::size_t piece, std::size_t tiles, std::size_t offset, bool is_read) {
  const std::size_t tile = (piece + offset) % tiles;
  return static_cast<unsigned>(is_read ? tile : tiles - 1 - tile);
}

void spread(Graph& graph, const Tensor& t, bool is_read, std::size_t offset) {
  const Target& target = graph.getTarget();
  const std::size_t n = t.numElements(), tiles = target.getNumTiles();
  const std::size_t grain = std::max<std::size_t>(1, kTransferBytes / target.getTypeSize(t.elementType()));
  const std::size_t share = (n + tiles - 1) / tiles, piece = (share + grain - 1) / grain * grain;
  internal::Mapping mapping(tiles);
  for (std::size_t begin = 0, i = 0; begin < n; begin += piece, ++i)
    mapping[tile_of(i, tiles, offset, is_read)].emplace_back(begin, std::min(n, begin + piece));
  graph.setTileMapping(t.flatten(), mapping);
}

}  // namespace

Tensor createHostTransferableTensor(Graph& graph, const Type& type, const std::vector<std::size_t>& shape, bool is_read,
                                    const std::size_t offset, const DebugContext& debug) {
  const Tensor t = graph.addVariable(type, shape, {debug, "hostTransferable"});
  spread(graph, t, is_read, offset);
  return t;
}

Tensor createHostTransferableTensor(Graph& graph, const Type& type, const std::vector<std::size_t>& shape, bool is_read,
                                    const DebugContext& debug) {
  return createHostTransferableTensor(graph, type, shape, is_read, 0, debug);
}

IndicesAndTensor createHostSliceableTensor(Graph& graph, const Type& type, const std::vector<std::size_t>& shape, const bool is_read,
                                           const std::size_t offset, const DebugContext& debug) {
  if (shape.size() != 2)
    internal::fail("popops::createHostSliceableTensor",
                   "a shape of " + std::to_string(shape.size()) + " dimensions; expected {rows, elements of a row}");
  IndicesAndTensor out;
  out.tensor = createHostTransferableTensor(graph, type, shape, is_read, offset, debug);
  out.indices = graph.addVariable(UNSIGNED_INT, {shape[0]}, {debug, "hostSliceIndices"});
  graph.setTileMapping(out.indices, tile_of(0, graph.getTarget().getNumTiles(), offset, is_read));
  return out;
}

IndicesAndTensor createHostSliceableTensor(Graph& graph, const Type& type, const std::vector<std::size_t>& shape, const bool is_read,
                                           const DebugContext& debug) {
  return createHostSliceableTensor(graph, type, shape, is_read, 0, debug);
}

}  // namespace popops
