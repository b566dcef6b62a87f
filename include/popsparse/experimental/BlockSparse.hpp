#ifndef popsparse_experimental_BlockSparse_hpp
#define popsparse_experimental_BlockSparse_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <array>
#include <string>
#include <vector>

namespace popsparse {
namespace experimental {

/// Elements of blocks that count as zero: none, or those above or below the diagonal of the dense matrix.
enum class SubBlockMask { None, ZeroUpperTriangle, ZeroLowerTriangle };

/// Softmax along the rows of a matrix [numGroups * dim[0]][dim[1]] of blocks {rows, columns} \p blockSize. \p sparsity has one byte for
/// each block, group after group, row after row: 1 where the block is stored. \p sparseTensor has a row for each stored block, its elements
/// row by row. Elements that are not stored, or that \p subBlockMaskType masks, count as minus infinity; masked ones become 0.
/// FLOAT or HALF. Throws poplibs_error for other shapes and types.
POPLAR_EXPORT poplar::Tensor bsSoftmax(poplar::Graph& graph, poplar::Tensor sparseTensor, const std::array<int, 2>& dim,
                                       const std::array<int, 2>& blockSize, const std::vector<unsigned char>& sparsity,
                                       SubBlockMask subBlockMaskType, unsigned numGroups, poplar::program::Sequence& prog,
                                       const poplar::DebugContext& debugContext = {});

/// The same, over \p sparseTensor.
POPLAR_EXPORT void bsSoftmaxInPlace(poplar::Graph& graph, poplar::Tensor sparseTensor, const std::array<int, 2>& dim,
                                    const std::array<int, 2>& blockSize, const std::vector<unsigned char>& sparsity,
                                    SubBlockMask subBlockMaskType, unsigned numGroups, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {});

/// The gradient of what went into bsSoftmax, from its result \p sparseOut and the result's gradient, both [blocks][elements of a block].
/// Groups follow each other in \p sparsity.
POPLAR_EXPORT poplar::Tensor bsSoftmaxGrad(poplar::Graph& graph, poplar::Tensor sparseOut, poplar::Tensor sparseOutGrad,
                                           const std::array<int, 2>& dim, const std::array<int, 2>& blockSize,
                                           const std::vector<unsigned char>& sparsity, poplar::program::Sequence& prog,
                                           const poplar::DebugContext& debugContext = {});

}  // namespace experimental
}  // namespace popsparse

#endif
