#ifndef poputil_TileMapping_hpp
#define poputil_TileMapping_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/TensorCloneMethod.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace poputil {

// Linear mappings cut the flattened elements into contiguous parts, one per tile: as many tiles as possible, parts as equal as
// possible, each a multiple of the grain and, unless there is only one, of the minimum at least. Where no grain and minimum are
// given, they are 8 and 64 bytes.
//
// The parts go to tiles `offset`, `offset` + 1 ...; after the last tile comes the first. With `ascendingOrder` false tiles count
// from the last one down.

POPLAR_EXPORT std::vector<std::vector<poplar::Interval>> calcLinearTileMapping(const poplar::Graph& graph, std::vector<std::size_t> shape,
                                                                               unsigned minElementsPerTile, unsigned grainSize,
                                                                               unsigned offset = 0, bool ascendingOrder = true);
POPLAR_EXPORT std::vector<std::vector<poplar::Interval>> calcLinearTileMapping(const poplar::Target& target, std::vector<std::size_t> shape,
                                                                               unsigned minElementsPerTile, unsigned grainSize,
                                                                               unsigned offset = 0, bool ascendingOrder = true);
POPLAR_EXPORT std::vector<std::vector<poplar::Interval>> calcLinearTileMapping(const poplar::Graph& graph, const poplar::Tensor& t,
                                                                               unsigned offset = 0, bool ascendingOrder = true);
POPLAR_EXPORT std::vector<std::vector<poplar::Interval>> calcLinearTileMapping(const poplar::Target& target,
                                                                               const std::vector<std::size_t> shape,
                                                                               poplar::Type elementType, unsigned offset = 0,
                                                                               bool ascendingOrder = true);

/// The mapping, and the offset of the tile after its last.
POPLAR_EXPORT std::pair<poplar::Graph::TileToTensorMapping, unsigned> calcLinearTileMappingAndNewOffset(const poplar::Graph& graph,
                                                                                                        const poplar::Tensor& t,
                                                                                                        unsigned offset = 0);

/// Map \p t linearly.
POPLAR_EXPORT void mapTensorLinearly(poplar::Graph& graph, const poplar::Tensor& t, unsigned minElementsPerTile, unsigned grainSize);
POPLAR_EXPORT void mapTensorLinearlyWithOffset(poplar::Graph& graph, const poplar::Tensor& t, unsigned minElementsPerTile,
                                               unsigned grainSize, unsigned offset, bool ascendingOrder = true);
POPLAR_EXPORT void mapTensorLinearly(poplar::Graph& graph, const poplar::Tensor& t);
POPLAR_EXPORT void mapTensorLinearlyWithOffset(poplar::Graph& graph, const poplar::Tensor& t, unsigned offset = 0,
                                               bool ascendingOrder = true);

/// A tile below \p numTiles that depends on the shape (and seed) and nothing else: small tensors of different shapes that begin
/// there do not all lie on the first tiles.
POPLAR_EXPORT std::size_t chooseMappingOffset(std::size_t numTiles, const std::vector<std::size_t>& shape);
POPLAR_EXPORT std::size_t chooseMappingOffset(std::size_t numTiles, const std::vector<std::size_t>& shape, std::size_t seed);

/// By how many elements the fullest tile has more than it would if the tensor were mapped linearly, with that minimum and grain.
POPLAR_EXPORT unsigned getTileImbalance(const poplar::Graph::TileToTensorMapping& mapping, unsigned minElementsPerTile = 0,
                                        unsigned grainSize = 1);
/// Throws poplar::invalid_tile_mapping if an element of \p t has no tile.
POPLAR_EXPORT unsigned getTileImbalance(const poplar::Graph& graph, const poplar::Tensor& t, unsigned minElementsPerTile = 0,
                                        unsigned grainSize = 1);

class TensorUseTrackerState;

/// Collects which tiles use which elements, then maps elements to tiles that use them.
///
///   TensorUseTracker tracker(numTiles);
///   for (each tile) tracker.add(graph, tile, what it reads);
///   tracker.mapTensorsByUse(graph, grainSize, minElementsPerTile);
///
/// Elements that one tile uses go there. Elements that several tiles use are spread over those tiles, evenly, in grains.
class POPLAR_EXPORT TensorUseTracker {
  std::unique_ptr<TensorUseTrackerState> st;

 public:
  /// \p startTile and \p ascendingMappingOrder number the tiles for elements that are shared: the first of them goes to the first
  /// user in that order.
  TensorUseTracker(unsigned numTiles, unsigned startTile = 0, bool ascendingMappingOrder = true);
  TensorUseTracker(const TensorUseTracker& other);
  TensorUseTracker(TensorUseTracker&& other);
  TensorUseTracker& operator=(const TensorUseTracker& other);
  TensorUseTracker& operator=(TensorUseTracker&& other);
  enum class MappingMethod {
    /// Elements that few tiles share go to one of them together with the neighbouring elements of that tile.
    OptimizeHaloRegions,
    /// Elements that several tiles share stay on tiles that use them, however small the parts become.
    ConstrainMappingToUsedTiles,
    /// Spread elements that are shared: no fewer than the minimum on a tile.
    None
  };
  ~TensorUseTracker();

  /// Tile \p tile uses the elements of \p t. Throws poplibs_error for a tile that is none of the tracker's.
  void add(const poplar::Graph& graph, unsigned tile, const poplar::Tensor& t);
  /// Adds what another tracker knows. Throws poplibs_error if it is for another number of tiles.
  void add(TensorUseTracker other);

  /// Decides: afterwards each element has one tile. With \p extendPartialUsage elements that nobody uses, of variables with
  /// elements that somebody uses, get a tile as well: that of the nearest used element.
  void resolve(const poplar::Graph& graph, unsigned grainSize, unsigned minElementsPerTile, bool extendPartialUsage = false,
               TensorUseTracker::MappingMethod mappingMethod = TensorUseTracker::MappingMethod::None);
  /// resolve(), then sets the tile mapping of the elements.
  void mapTensorsByUse(poplar::Graph& graph, unsigned grainSize, unsigned minElementsPerTile, bool extendPartialUsage = false,
                       TensorUseTracker::MappingMethod mappingMethod = TensorUseTracker::MappingMethod::None);
  /// Has nothing been added?
  bool empty() const;
};

/// A clone of \p t on another IPU: what is on tile i of an IPU goes to tile i of \p dstIPU. Throws poplibs_error for an IPU that the
/// target does not have.
POPLAR_EXPORT poplar::Tensor cloneToIpu(poplar::Graph& graph, const poplar::Tensor& t, unsigned dstIPU,
                                        const poplar::DebugContext& debugContext = {},
                                        poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);

/// A clone in \p dstGraph of \p t, which belongs to \p srcGraph: on the same tiles, by their number in the graphs. Throws poplibs_error
/// if \p dstGraph has fewer tiles.
POPLAR_EXPORT poplar::Tensor cloneToGraph(poplar::Graph& srcGraph, poplar::Graph& dstGraph, const poplar::Tensor& t,
                                          const poplar::DebugContext& debugContext = {},
                                          poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);

/// A clone of \p t in which every element is an element of its own, and the offset of the next tile. Elements that occur once
/// lie on the same tile as in \p t; those that occur more often are mapped linearly from tile \p offset on.
POPLAR_EXPORT std::pair<poplar::Tensor, unsigned> cloneAndExpandAliasing(poplar::Graph& graph, const poplar::Tensor& t, unsigned offset = 0,
                                                                         const poplar::DebugContext& debugContext = {});

/// cloneToIpu, and in \p prog the copy into it.
POPLAR_EXPORT poplar::Tensor copyToIpu(poplar::Graph& masterGraph, const poplar::Tensor& t, poplar::program::Sequence& prog,
                                       unsigned dstIPU, const poplar::DebugContext& debugContext = {},
                                       poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);

/// cloneToIpu, and what to copy into it when the caller chooses: Copy(copySrc, copyDst) brings all elements.
POPLAR_EXPORT poplar::Tensor createIpuCopy(poplar::Graph& graph, const poplar::Tensor& t, unsigned dstIpu, poplar::Tensor& copySrc,
                                           poplar::Tensor& copyDst, const poplar::DebugContext& debugContext = {},
                                           poplar::TensorCloneMethod method = poplar::TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES);

/// Has a tile only a part of the elements along that dimension, for some position in the others?
POPLAR_EXPORT bool dimIsSplitOverTiles(const poplar::Graph& graph, const poplar::Tensor& t, unsigned dimension);
/// Has an IPU?
POPLAR_EXPORT bool dimIsSplitOverIPUs(const poplar::Graph& graph, const poplar::Tensor& t, unsigned dimension);

/// A vector of fullTensor.dim(dim) elements, mapped so that adding it to every slice of \p fullTensor along \p dim moves little:
/// each element lies where \p fullTensor has elements of that index.
/// \param ditherMapping  begin at a tile that depends on the shape
POPLAR_EXPORT poplar::Tensor createBroadcastOperand(poplar::Graph& graph, const poplar::Tensor& fullTensor, const poplar::Type& type,
                                                    unsigned dim, bool ditherMapping = false,
                                                    const poplar::DebugContext& debugContext = {});

/// The tile that position \p tile has when tiles are counted from \p offset up, or from the mirror image of \p offset down.
POPLAR_EXPORT unsigned transformTileIndex(unsigned tile, unsigned numTiles, unsigned offset, bool ascending);
/// The inverse.
POPLAR_EXPORT unsigned invTransformTileIndex(unsigned tile, unsigned numTiles, unsigned offset, bool ascending);

}  // namespace poputil

#endif
