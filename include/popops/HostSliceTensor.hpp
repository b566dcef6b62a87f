#ifndef popops_HostSliceTensor_hpp
#define popops_HostSliceTensor_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <vector>

namespace poplar {
class Graph;
}

namespace popops {

/// Rows in transfer between a remote buffer and the tiles, and which rows of the buffer they are.
struct IndicesAndTensor {
  poplar::Tensor indices;  ///< UNSIGNED_INT, {rows}
  poplar::Tensor tensor;   ///< {rows, elements of a row}
};

/// Tensors for program::Copy(buffer, tensor, indices) (\p isRead) or Copy(tensor, buffer, indices): \p shape is {rows, elements of
/// a row}. Rows are spread over the tiles in equal pieces of whole 64 bytes, from tile \p offset on. What is read and what is
/// written starts from opposite ends of the tiles. Throws poputil::poplibs_error if \p shape has not two dimensions.
POPLAR_EXPORT IndicesAndTensor createHostSliceableTensor(poplar::Graph& graph, const poplar::Type& type,
                                                         const std::vector<std::size_t>& shape, const bool isRead,
                                                         const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT IndicesAndTensor createHostSliceableTensor(poplar::Graph& graph, const poplar::Type& type,
                                                         const std::vector<std::size_t>& shape, const bool isRead, const std::size_t offset,
                                                         const poplar::DebugContext& debugContext = {});

/// A tensor of any shape for transfers with the host: spread over the tiles in the same way.
POPLAR_EXPORT poplar::Tensor createHostTransferableTensor(poplar::Graph& graph, const poplar::Type& type,
                                                          const std::vector<std::size_t>& shape, bool isRead,
                                                          const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor createHostTransferableTensor(poplar::Graph& graph, const poplar::Type& type,
                                                          const std::vector<std::size_t>& shape, bool isRead, const std::size_t offset,
                                                          const poplar::DebugContext& debugContext = {});

}  // namespace popops

#endif
