#ifndef popsparse_Embedding_hpp
#define popsparse_Embedding_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Interval.hpp>
#include <popsparse/FullyConnected.hpp>
#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/SparseTensor.hpp>

namespace popsparse {
namespace dynamic {

/// Indices of rows: UNSIGNED_INT [numIndices].
POPLAR_EXPORT poplar::Tensor createIndicesTensor(poplar::Graph& graph, const FullyConnectedParams& params, std::size_t numIndices,
                                                 const poplar::OptionFlags& options = {}, const poplar::DebugContext& debugContext = {});

/// Rows to add: [numIndices][inputChannels].
POPLAR_EXPORT poplar::Tensor createSliceTensor(poplar::Graph& graph, const poplar::Type& dataType, const FullyConnectedParams& params,
                                               std::size_t numIndices, const poplar::DebugContext& debugContext = {},
                                               const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// Rows \p indices [n] of sparse weights as dense rows [n][inputChannels]; an index that is no row gives zeros.
/// \p t comes from createFullyConnectedWeights with the same parameters and options.
POPLAR_EXPORT poplar::Tensor embeddingSlice(poplar::Graph& graph, const SparseTensor& t, const poplar::Tensor& indices,
                                            poplar::program::Sequence& prog, const FullyConnectedParams& params,
                                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                            PlanningCache* cache = nullptr);

/// Adds \p scale (one FLOAT, or one of the weights' type) times each row of \p slices [n][inputChannels] to row indices[i] of the weights,
/// where it has stored elements. An index that is no row changes nothing.
POPLAR_EXPORT void embeddingUpdateAdd(poplar::Graph& graph, const SparseTensor& t, const poplar::Tensor& slices,
                                      const poplar::Tensor& indices, const poplar::Tensor& scale, poplar::program::Sequence& prog,
                                      const FullyConnectedParams& params, const poplar::DebugContext& debugContext = {},
                                      const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

}  // namespace dynamic
}  // namespace popsparse

#endif
