#ifndef popsparse_FullyConnected_hpp
#define popsparse_FullyConnected_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <popsparse/FullyConnectedParams.hpp>
#include <popsparse/PlanningCache.hpp>
#include <popsparse/SparseTensor.hpp>

#include <tuple>

namespace popsparse {
namespace dynamic {

/// The sparse weights [outputChannels][inputChannels] of a layer. \p inputType FLOAT or HALF; one group. The options are those of
/// createSparseDenseMatMulLHS. All functions throw poplibs_error for other types, shapes and groups, invalid_option for other options.
POPLAR_EXPORT SparseTensor createFullyConnectedWeights(poplar::Graph& graph, const poplar::Type& inputType,
                                                       const FullyConnectedParams& params, const poplar::DebugContext& debugContext = {},
                                                       const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// Activations [batchSize][inputChannels], laid out for the forward pass.
POPLAR_EXPORT poplar::Tensor createFullyConnectedInput(poplar::Graph& graph, const poplar::Type& inputType,
                                                       const FullyConnectedParams& params, const poplar::DebugContext& debugContext = {},
                                                       const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// activations [batchSize][inputChannels] times the weights' transpose: [batchSize][outputChannels].
POPLAR_EXPORT poplar::Tensor fullyConnectedFwd(poplar::Graph& graph, const SparseTensor& weights, const poplar::Tensor& activations,
                                               const FullyConnectedParams& fcParams, poplar::program::Sequence& prog,
                                               const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                               PlanningCache* cache = nullptr);

/// gradients [batchSize][outputChannels] times the weights: [batchSize][inputChannels].
POPLAR_EXPORT poplar::Tensor fullyConnectedGradA(poplar::Graph& graph, const SparseTensor& weights, const poplar::Tensor& gradients,
                                                 const FullyConnectedParams& fcParams, poplar::program::Sequence& prog,
                                                 const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                                 PlanningCache* cache = nullptr);

/// The gradient of each stored weight, in the layout of the weights' nzValues: \p gradA [batchSize][outputChannels], transposed, times
/// \p activations [batchSize][inputChannels]. What buckets do not use is 0.
POPLAR_EXPORT poplar::Tensor fullyConnectedSparseGradW(poplar::Graph& graph, const poplar::Tensor sparsityMetaInfo,
                                                       const poplar::Tensor& gradA, const poplar::Tensor& activations,
                                                       const FullyConnectedParams& fcParams, poplar::program::Sequence& prog,
                                                       const poplar::DebugContext& debugContext = {},
                                                       const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// How many parts in series a dense weight gradient of this layer would best be made in, so that it fits beside the layer: of groups,
/// input channels and output channels.
POPLAR_EXPORT std::tuple<unsigned, unsigned, unsigned> fullyConnectedDenseGradWSerialSplits(const poplar::Graph& graph,
                                                                                            const poplar::Type& inputType,
                                                                                            const FullyConnectedParams& fcParams,
                                                                                            const poplar::OptionFlags& options_ = {},
                                                                                            PlanningCache* cache = nullptr);

}  // namespace dynamic
}  // namespace popsparse

#endif
