#ifndef gcl_TileAllocation_hpp
#define gcl_TileAllocation_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>

#include <vector>

namespace gcl {

/// `count` tiles of each IPU after the first `offset`, for Graph::createVirtualGraph: tiles for input and output, and the others. With
/// `tilePairs` offset and count are even on machines whose tiles share an exchange bus in pairs. Throws poputil::poplibs_error if an IPU
/// has not as many.
POPLAR_EXPORT std::vector<unsigned> perIPUTiles(const poplar::Graph& graph, unsigned offset, unsigned count, bool sorted = true,
                                                bool tilePairs = true);
/// The least number of IO tiles that is of use: a pair of tiles per column of the exchange fabric, at most half of the tiles.
POPLAR_EXPORT unsigned getMinIoTiles(const poplar::Graph& graph);

}  // namespace gcl

#endif
