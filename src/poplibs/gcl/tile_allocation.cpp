#include "gcl/TileAllocation.hpp"
#include "poplibs/poputil/reject.h"

#include <poputil/exceptions.hpp>

#include <algorithm>
#include <numeric>

namespace gcl {

std::vector<unsigned> perIPUTiles(const poplar::Graph& graph, unsigned offset, unsigned count, bool, bool tilePairs) {
  const unsigned tiles = graph.getTarget().getTilesPerIPU(), shared = std::max(1u, graph.getTarget().getTilesPerSharedExchangeBus());
  if (count > tiles || offset > tiles - count)
    poputil::reject(
        "too-many-tiles", "{}",
        "gcl::perIPUTiles: " + std::to_string(count) + " tiles after " + std::to_string(offset) + " of " + std::to_string(tiles));
  if (tilePairs && (offset % shared != 0 || (count % shared != 0 && offset + count != tiles)))
    poputil::reject(
        "parted-tile-pair", "{}",
        "gcl::perIPUTiles: " + std::to_string(count) + " tiles after " + std::to_string(offset) + " part a pair of tiles that share a bus");
  std::vector<unsigned> out(count);
  std::iota(out.begin(), out.end(), offset);
  return out;
}

unsigned getMinIoTiles(const poplar::Graph& graph) {
  constexpr unsigned kColumns = 16;  // of the exchange fabric, each a pair of tiles wide
  return std::max(2u, std::min(2 * kColumns, graph.getTarget().getTilesPerIPU() / 2));
}

}  // namespace gcl
