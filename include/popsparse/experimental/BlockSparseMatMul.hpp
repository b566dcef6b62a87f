#ifndef popsparse_experimental_BlockSparseMatMul_hpp
#define popsparse_experimental_BlockSparseMatMul_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <popsparse/experimental/BlockSparse.hpp>

#include <array>
#include <memory>
#include <vector>

namespace popsparse {
namespace experimental {

class BSMatMulImpl;

/// A product of matrices of blocks, one of which is sparse. dim = {rows of the left side, columns of the left side, columns of the right
/// side}, blockSize in the same order; sizes that blocks do not divide, and masks of another size, are a poplibs_error.
class POPLAR_EXPORT BSMatMulParams {
 public:
  /// dense [groups * dim[0]][dim[1]] times sparse [dim[1]][dim[2]] = dense. \p rhsSparsity has a byte for each block of the right side,
  /// group after group, row after row; with \p rhsNeedTranspose it and the blocks are those of the transpose [dim[2]][dim[1]].
  BSMatMulParams(const std::array<int, 3>& dim, const std::array<int, 3>& blockSize, const std::vector<unsigned char>& rhsSparsity,
                 bool rhsNeedTranspose, poplar::Type inDataType, poplar::Type outDataType, poplar::Type partialDataType,
                 unsigned numGroupsIn = 1);
  /// dense times dense = sparse: only the blocks that \p resSparsity marks are computed.
  BSMatMulParams(const std::array<int, 3>& dim, const std::array<int, 3>& blockSize, const std::vector<unsigned char>& resSparsity,
                 poplar::Type inDataType, poplar::Type outDataType, poplar::Type partialDataType,
                 SubBlockMask subBlockMask = SubBlockMask::None, unsigned numGroupsIn = 1);
  BSMatMulParams(BSMatMulParams&& other);
  ~BSMatMulParams();
  std::unique_ptr<BSMatMulImpl> impl;
};

/// The left side: dense, [groups * dim[0]][dim[1]]. The options of all functions, `memoryCycleRatio`, `partitionMethod` and `maxTempMemory`
/// ..., are taken; the plan does not depend on them.
POPLAR_EXPORT poplar::Tensor createBSMatMulInputLHS(poplar::Graph& graph, const BSMatMulParams& bsMatMul,
                                                    const poplar::DebugContext& debugContext, const poplar::OptionFlags& options = {});
/// The right side: a row for each stored block, or dense [groups * dim[1]][dim[2]].
POPLAR_EXPORT poplar::Tensor createBSMatMulInputRHS(poplar::Graph& graph, const BSMatMulParams& bsMatMul,
                                                    const poplar::DebugContext& debugContext, const poplar::OptionFlags& options = {});
/// The product: dense [groups * dim[0]][dim[2]], or a row for each block of the result.
POPLAR_EXPORT poplar::Tensor bsMatMul(poplar::Graph& graph, const BSMatMulParams& bsMatMulParams, poplar::program::Sequence& prog,
                                      const poplar::Tensor& lhsMatrix, const poplar::Tensor& rhsMatrix,
                                      const poplar::OptionFlags& options = {}, const poplar::DebugContext& debugContext = {});

}  // namespace experimental
}  // namespace popsparse

#endif
