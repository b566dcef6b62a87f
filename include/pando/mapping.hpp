#ifndef pando_mapping_hpp
#define pando_mapping_hpp

// Tile mappings as one list in the order of a tensor's elements. getTileMapping and setTileMapping have a list for each tile, most of which
// are empty where a machine has thousands of tiles and a tensor lies on some. Beyond public Poplar.

#include <poplar/Export.hpp>

#include <cstddef>
#include <vector>

namespace poplar {
class Graph;
class Tensor;
}  // namespace poplar

namespace pando {

/// Elements [begin, end) of the flattened tensor, on one tile.
struct TileInterval {
  std::size_t begin = 0, end = 0;
  unsigned tile = 0;
  friend bool operator==(const TileInterval&, const TileInterval&) = default;
};

/// Where the elements lie, in their order; neighbours on one tile are one interval. What is not mapped, or lies on tiles that a virtual
/// graph does not see, is left out.
POPLAR_EXPORT std::vector<TileInterval> tile_intervals(const poplar::Graph& graph, const poplar::Tensor& tensor);

/// Maps the elements of the intervals, which come in any order and do not overlap. Throws invalid_tile_mapping as setTileMapping does.
POPLAR_EXPORT void set_tile_intervals(poplar::Graph& graph, const poplar::Tensor& tensor, const std::vector<TileInterval>& mapping);

}  // namespace pando

#endif
