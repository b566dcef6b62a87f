#ifndef popsparse_MatMul_hpp
#define popsparse_MatMul_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <popsparse/PlanningCache.hpp>
#include <popsparse/SparseStorageFormats.hpp>
#include <popsparse/SparseTensor.hpp>

namespace popsparse {

/// Sparse matrices whose sparsity may change between runs.
namespace dynamic {

class MatMulParams;

/// The sparse left side of sparseDenseMatMul. \p inputType FLOAT or HALF; one group.
///
/// Options: `availableMemoryProportion` [0.6], the part of a tile's memory that a product may take while it runs;
/// `metaInfoBucketOversizeProportion` [0.3], what buckets hold beyond an even share of the blocks; `partialsType` [float];
/// `partitioner.forceBucketSpills` [false], every block lies in the bucket after its own, for tests. Taken without effect: `sharedBuckets`,
/// `doGradAPass`, `doGradWPass`, `enableStructuredRearrangements`, `partitioner.optimiseForSpeed`, `planConstraints`.
/// Throws poplibs_error for other types and groups, invalid_option for other options.
POPLAR_EXPORT SparseTensor createSparseDenseMatMulLHS(poplar::Graph& graph, const poplar::Type& inputType, const MatMulParams& params,
                                                      const poplar::DebugContext& debugContext = {},
                                                      const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// The dense right side [groups][k][n], laid out for the product.
POPLAR_EXPORT poplar::Tensor createSparseDenseMatMulRHS(poplar::Graph& graph, const poplar::Type& inputType, const MatMulParams& params,
                                                        const poplar::DebugContext& debugContext = {},
                                                        const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// lhs * rhs = [groups][m][n], or with \p transposeLHS its transpose times [groups][m][n] = [groups][k][n]; with \p transposeRHS the last
/// two dimensions of \p rhs are swapped first. \p lhs comes from createSparseDenseMatMulLHS with the same options. The result has the type
/// of \p rhs. Throws poplibs_error for operands of other shapes and types.
POPLAR_EXPORT poplar::Tensor sparseDenseMatMul(poplar::Graph& graph, const SparseTensor& lhs, const poplar::Tensor& rhs,
                                               poplar::program::Sequence& prog, bool transposeLHS = false, bool transposeRHS = false,
                                               const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                               PlanningCache* cache = nullptr);

}  // namespace dynamic

/// Sparse matrices whose sparsity is known when the graph is built. \p T is float or double, \p inputType FLOAT or HALF; one group.
///
/// Options: `availableMemoryProportion` [0.6], `partialsType` [float], `nSplit` [0: planned], the parts into which the dense side's columns
/// are cut. Taken without effect: `numBands`, `verboseLogging`.
namespace static_ {

class MatMulParams;

/// The sparse left side [groups][m][k] of sparseDenseMatMul.
template <typename T>
SparseTensor createSparseDenseMatMulLHS(poplar::Graph& graph, const poplar::Type& inputType, const MatMulParams& params,
                                        const CSRMatrix<T>& csrLHS, const poplar::DebugContext& debugContext = {},
                                        const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr) = delete;
template <>
POPLAR_EXPORT SparseTensor createSparseDenseMatMulLHS<float>(poplar::Graph& graph, const poplar::Type& inputType,
                                                             const MatMulParams& params, const CSRMatrix<float>& csrLHS,
                                                             const poplar::DebugContext& debugContext, const poplar::OptionFlags& options,
                                                             PlanningCache* cache);
template <>
POPLAR_EXPORT SparseTensor createSparseDenseMatMulLHS<double>(poplar::Graph& graph, const poplar::Type& inputType,
                                                              const MatMulParams& params, const CSRMatrix<double>& csrLHS,
                                                              const poplar::DebugContext& debugContext, const poplar::OptionFlags& options,
                                                              PlanningCache* cache);

/// The sparse right side [groups][k][m] of denseSparseMatMul.
template <typename T>
SparseTensor createDenseSparseMatMulRHS(poplar::Graph& graph, const poplar::Type& inputType, const MatMulParams& params,
                                        const CSRMatrix<T>& csrRHS, const poplar::DebugContext& debugContext = {},
                                        const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr) = delete;
template <>
POPLAR_EXPORT SparseTensor createDenseSparseMatMulRHS<float>(poplar::Graph& graph, const poplar::Type& inputType,
                                                             const MatMulParams& params, const CSRMatrix<float>& csrRHS,
                                                             const poplar::DebugContext& debugContext, const poplar::OptionFlags& options,
                                                             PlanningCache* cache);
template <>
POPLAR_EXPORT SparseTensor createDenseSparseMatMulRHS<double>(poplar::Graph& graph, const poplar::Type& inputType,
                                                              const MatMulParams& params, const CSRMatrix<double>& csrRHS,
                                                              const poplar::DebugContext& debugContext, const poplar::OptionFlags& options,
                                                              PlanningCache* cache);

/// The dense right side [groups][k][n] for a left side of this sparsity.
template <typename T>
poplar::Tensor createSparseDenseMatMulRHS(poplar::Graph& graph, const poplar::Type& inputType, const MatMulParams& params,
                                          const CSRMatrix<T>& csrLHS, const poplar::DebugContext& debugContext = {},
                                          const poplar::OptionFlags options = {}, PlanningCache* cache = nullptr) = delete;
template <>
POPLAR_EXPORT poplar::Tensor createSparseDenseMatMulRHS<float>(poplar::Graph& graph, const poplar::Type& inputType,
                                                               const MatMulParams& params, const CSRMatrix<float>& csrLHS,
                                                               const poplar::DebugContext& debugContext, const poplar::OptionFlags options,
                                                               PlanningCache* cache);
template <>
POPLAR_EXPORT poplar::Tensor createSparseDenseMatMulRHS<double>(poplar::Graph& graph, const poplar::Type& inputType,
                                                                const MatMulParams& params, const CSRMatrix<double>& csrLHS,
                                                                const poplar::DebugContext& debugContext, const poplar::OptionFlags options,
                                                                PlanningCache* cache);

/// The dense left side [groups][n][k] for a right side of this sparsity.
template <typename T>
poplar::Tensor createDenseSparseMatMulLHS(poplar::Graph& graph, const poplar::Type& inputType, const MatMulParams& params,
                                          const CSRMatrix<T>& csrRHS, const poplar::DebugContext& debugContext = {},
                                          const poplar::OptionFlags options = {}, PlanningCache* cache = nullptr) = delete;
template <>
POPLAR_EXPORT poplar::Tensor createDenseSparseMatMulLHS<float>(poplar::Graph& graph, const poplar::Type& inputType,
                                                               const MatMulParams& params, const CSRMatrix<float>& csrRHS,
                                                               const poplar::DebugContext& debugContext, const poplar::OptionFlags options,
                                                               PlanningCache* cache);
template <>
POPLAR_EXPORT poplar::Tensor createDenseSparseMatMulLHS<double>(poplar::Graph& graph, const poplar::Type& inputType,
                                                                const MatMulParams& params, const CSRMatrix<double>& csrRHS,
                                                                const poplar::DebugContext& debugContext, const poplar::OptionFlags options,
                                                                PlanningCache* cache);

/// lhs * rhs = [groups][m][n], or with \p transposeLHS its transpose times [groups][m][n] = [groups][k][n]; with \p transposeRHS the last
/// two dimensions of \p rhs are swapped first. \p lhs comes from createSparseDenseMatMulLHS.
POPLAR_EXPORT poplar::Tensor sparseDenseMatMul(poplar::Graph& graph, const SparseTensor& lhs, const poplar::Tensor& rhs,
                                               poplar::program::Sequence& prog, bool transposeLHS = false, bool transposeRHS = false,
                                               const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                               PlanningCache* cache = nullptr);
/// lhs * rhs = [groups][n][m], or with \p transposeRHS [groups][n][m] times the transpose = [groups][n][k]; with \p transposeLHS the last
/// two dimensions of \p lhs are swapped first. \p rhs comes from createDenseSparseMatMulRHS.
POPLAR_EXPORT poplar::Tensor denseSparseMatMul(poplar::Graph& graph, const poplar::Tensor& lhs, const SparseTensor& rhs,
                                               poplar::program::Sequence& prog, bool transposeLHS = false, bool transposeRHS = false,
                                               const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                               PlanningCache* cache = nullptr);

}  // namespace static_
}  // namespace popsparse

#endif
