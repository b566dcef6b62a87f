#ifndef popops_CircBuf_hpp
#define popops_CircBuf_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace popops {

/// The last \p size tensors that were added, on the device: a place for each, and the number of the newest one. Elements of the same
/// position are on one tile for all places, so adding and reading move nothing between tiles.
class POPLAR_EXPORT CircBuf {
 public:
  /// Throws poputil::poplibs_error for a size of 0. Places hold what the memory holds until they are written.
  CircBuf(poplar::Graph& graph, const poplar::Type& dataType, unsigned size, const std::vector<std::size_t>& shape,
          const poplar::DebugContext& debugContext = {});
  /// A copy of the tensor that was added \p i additions before the newest one; 0 is the newest. Throws poputil::poplibs_error if i is
  /// not less than size().
  poplar::Tensor prev(unsigned i, poplar::program::Sequence& seq, const poplar::DebugContext& debugContext = {});
  /// Adds a tensor, of the buffer's shape and type, in the place of the oldest. Throws poputil::poplibs_error otherwise.
  void add(poplar::Tensor t, poplar::program::Sequence& seq, const poplar::DebugContext& debugContext = {});
  /// The place of the newest tensor, UNSIGNED_INT, {1}.
  poplar::Tensor getIndex() const;
  unsigned size() const;
  /// Where the elements of a tensor that is added or read should be, so that nothing moves between tiles.
  poplar::Graph::TileToTensorMapping getTileMapping();

 private:
  poplar::Graph& graph;
  unsigned size_;
  poplar::Tensor index;
  std::vector<std::size_t> shape;
  poplar::Tensor hist;
};

}  // namespace popops

#endif
