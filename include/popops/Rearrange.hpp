#ifndef popops_Rearrange_hpp
#define popops_Rearrange_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poputil/VarStructure.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace popops {
namespace rearrange {

// Transposing matrices in tile memory, and changing which dimension of a tensor is contiguous. A copy can do all of it; where the
// innermost dimension changes, a copy moves element by element, while these move groups and transpose the blocks of two groupings
// in a vertex.

/// Does the machine transpose \p numTranspositions matrices of that size at the speed of its loads and stores? It does for types
/// of 1, 2 and 4 bytes if rows and columns are multiples of 8, 4 and 2.
POPLAR_EXPORT bool canUseFastTranspose(const poplar::Target& target, const poplar::Type& type, unsigned numRows, unsigned numColumns,
                                       unsigned numTranspositions);

/// Adds vertices to \p cs that transpose matrices of \p rows x \p cols elements. \p mapping[t] lists the matrices, by number, that
/// tile t transposes; \p getInOut(i) gives matrix i: rows * cols elements in row-major order, and as many for the result. Any type.
/// Throws poputil::poplibs_error if \p getInOut gives tensors of another type or size, or results that cannot be written.
POPLAR_EXPORT void addTransposeVertices(poplar::Graph& graph, const poplar::ComputeSet& cs, const poplar::Type& dType, unsigned rows,
                                        unsigned cols, const poplar::Graph::TileToTensorMapping& mapping,
                                        std::function<std::pair<const poplar::Tensor, const poplar::Tensor>(std::size_t)> getInOut,
                                        const poplar::DebugContext& debugContext = {});

/// A new tensor with the last two dimensions of \p in swapped, written by vertices of \p cs. Matrices are transposed where they
/// are, and each result is contiguous. If that would leave tiles idle, matrices are cut into blocks, which are spread over all
/// tiles; then each block of the result is contiguous. Throws poputil::poplibs_error for less than two dimensions.
POPLAR_EXPORT poplar::Tensor partialTranspose(poplar::Graph& graph, const poplar::Tensor& in, const poplar::ComputeSet& cs,
                                              const poplar::DebugContext& debugContext = {});

/// The least size of groups of elements, 8 bytes, that regrouping moves well.
POPLAR_EXPORT unsigned getMinimumRegroupGrainSize(const poplar::Type& type);

/// A copy of \p t in which groups of to.second elements of dimension to.first are contiguous, given that groups of from.second
/// elements of dimension from.first are contiguous in \p t: first \p copies, which bring the groups together, then the vertices of
/// \p transposeCS. Throws poputil::poplibs_error if a grouping names no dimension or its size does not divide it.
POPLAR_EXPORT poplar::Tensor regroupTensor(poplar::Graph& graph, const poplar::Tensor& t, poplar::program::Sequence& copies,
                                           const poplar::ComputeSet& transposeCS, const poputil::GroupingInfo& from,
                                           const poputil::GroupingInfo& to, const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor regroupTensor(poplar::Graph& graph, const poplar::Tensor& t, std::vector<poplar::program::Copy>& copies,
                                           const poplar::ComputeSet& transposeCS, const poputil::GroupingInfo& from,
                                           const poputil::GroupingInfo& to, const poplar::DebugContext& debugContext = {});

/// \p t regrouped by \p to, whatever its grouping is; \p t itself if it is contiguous in that dimension already, if \p to does not
/// divide it, or if it has no grouping to start from.
POPLAR_EXPORT poplar::Tensor regroupIfPossible(poplar::Graph& graph, const poplar::Tensor& t, poplar::program::Sequence& prog,
                                               const poputil::GroupingInfo& to, const poplar::DebugContext& debugContext = {});

/// \p in regrouped as \p ref, of the same rank, is; \p in itself if both are contiguous in the same dimension, or if groups are no
/// multiples of getMinimumRegroupGrainSize. Throws poputil::poplibs_error if ranks differ.
POPLAR_EXPORT poplar::Tensor regroupIfBeneficial(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Tensor& ref,
                                                 poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor regroupIfBeneficial(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Tensor& ref,
                                                 std::vector<poplar::program::Copy>& copies, poplar::ComputeSet transposeCS,
                                                 const poplar::DebugContext& debugContext = {});
/// The same for a wanted grouping of the last dimension.
POPLAR_EXPORT poplar::Tensor regroupIfBeneficial(poplar::Graph& graph, const poplar::Tensor& in, std::size_t preferredGrouping,
                                                 poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

}  // namespace rearrange
}  // namespace popops

#endif
