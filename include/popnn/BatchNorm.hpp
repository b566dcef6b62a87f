#ifndef popnn_BatchNorm_hpp
#define popnn_BatchNorm_hpp

#include "poplar/DebugContext.hpp"
#include "poplar/Export.hpp"
#include "poplar/OptionFlags.hpp"
#include "poplar/Program.hpp"
#include "poplar/Tensor.hpp"
#include "poplin/Norms.hpp"

#include <utility>

namespace popnn {
namespace bn {

// Activations and their gradients are {batch, channels, field ...}; statistics (mean, and 1 / sqrt(variance + eps)) and parameters
// (gamma, beta) are {channels}. Sums are taken in `partialsType`. There are no options: any throws poplar::invalid_option. Shapes and
// types that do not fit together throw poputil::poplibs_error.

/// Mean and inverse standard deviation of each channel. \p unbiasedVarEstimate divides by one less than the number of elements;
/// \p stableAlgo takes the variance of the differences from the mean, in a second pass.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> batchNormStatistics(poplar::Graph& graph, const poplar::Tensor acts, float eps,
                                                                            poplar::program::Sequence& prog, bool unbiasedVarEstimate,
                                                                            bool stableAlgo = false,
                                                                            const poplar::Type& partialsType = poplar::FLOAT,
                                                                            const poplar::DebugContext& debugContext = {},
                                                                            const poplar::OptionFlags& options = {});
/// The statistics of \p normBatchSize batch elements, those of as many replicas as that takes; \p reduceCallback adds up over replicas.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> distributedBatchNormStatistics(
    poplar::Graph& replicatedGraph, const poplar::Tensor acts, float eps, poplar::program::Sequence& prog, bool unbiasedVarEstimate,
    poplin::DistributedNormReduceCallback reduceCallback, unsigned normBatchSize, bool stableAlgo = false,
    const poplar::Type& partialsType = poplar::FLOAT, const poplar::DebugContext& debugContext = {},
    const poplar::OptionFlags& options = {});

/// (acts - mean) * invStdDev.
POPLAR_EXPORT poplar::Tensor batchNormWhiten(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& mean,
                                             const poplar::Tensor& invStdDev, poplar::program::Sequence& prog,
                                             const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
/// {whitened * gamma + beta, whitened}.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> batchNormalise(poplar::Graph& graph, const poplar::Tensor& acts,
                                                                       const poplar::Tensor& gamma, const poplar::Tensor& beta,
                                                                       const poplar::Tensor& mean, const poplar::Tensor& invStdDev,
                                                                       poplar::program::Sequence& prog,
                                                                       const poplar::DebugContext& debugContext = {},
                                                                       const poplar::OptionFlags& options = {});
/// acts * combinedMultiplicand + addend: for inference, where gamma * invStdDev and beta - gamma * mean * invStdDev are constant.
POPLAR_EXPORT poplar::Tensor batchNormalise(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& combinedMultiplicand,
                                            const poplar::Tensor& addend, poplar::program::Sequence& prog,
                                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// The gradients of gamma and beta, given those of the result.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> batchNormParamGradients(
    poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& gradsIn, const poplar::Tensor& mean,
    const poplar::Tensor& iStdDev, poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> batchNormParamGradients(poplar::Graph& graph, const poplar::Tensor& actsWhitened,
                                                                                const poplar::Tensor& gradsIn,
                                                                                poplar::program::Sequence& prog,
                                                                                const poplar::Type& partialsType = poplar::FLOAT,
                                                                                const poplar::DebugContext& debugContext = {},
                                                                                const poplar::OptionFlags& options = {});

/// The gradient of the activations, given that of the result.
POPLAR_EXPORT poplar::Tensor batchNormGradients(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& gradsIn,
                                                const poplar::Tensor& mean, const poplar::Tensor& invStdDev, const poplar::Tensor& gamma,
                                                poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
                                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT poplar::Tensor batchNormGradients(poplar::Graph& graph, const poplar::Tensor& actsWhitened, const poplar::Tensor& gradsIn,
                                                const poplar::Tensor& invStdDev, const poplar::Tensor& gamma,
                                                poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
                                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
/// The same with statistics over \p normBatchSize batch elements.
POPLAR_EXPORT poplar::Tensor distributedBatchNormGradients(poplar::Graph& replicatedGraph, const poplar::Tensor& actsWhitened,
                                                           const poplar::Tensor& gradsIn, const poplar::Tensor& invStdDev,
                                                           const poplar::Tensor& gamma, poplar::program::Sequence& prog,
                                                           poplin::DistributedNormReduceCallback reduceCallback, unsigned normBatchSize,
                                                           const poplar::Type& partialsType = poplar::FLOAT,
                                                           const poplar::DebugContext& debugContext = {},
                                                           const poplar::OptionFlags& options = {});
POPLAR_EXPORT poplar::Tensor distributedBatchNormGradients(
    poplar::Graph& replicatedGraph, const poplar::Tensor& acts, const poplar::Tensor& gradsIn, const poplar::Tensor& mean,
    const poplar::Tensor& invStdDev, const poplar::Tensor& gamma, poplar::program::Sequence& prog,
    poplin::DistributedNormReduceCallback reduceCallback, unsigned normBatchSize, const poplar::Type& partialsType = poplar::FLOAT,
    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// gamma += scale * gammaDelta, beta += scale * betaDelta.
POPLAR_EXPORT void batchNormParamUpdate(poplar::Graph& graph, const poplar::Tensor& gammaDelta, const poplar::Tensor& betaDelta,
                                        float scale, poplar::Tensor& gamma, poplar::Tensor& beta, poplar::program::Sequence& prog,
                                        const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT void batchNormParamUpdate(poplar::Graph& graph, const poplar::Tensor& gammaDelta, const poplar::Tensor& betaDelta,
                                        const poplar::Tensor& scale, poplar::Tensor& gamma, poplar::Tensor& beta,
                                        poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                        const poplar::OptionFlags& options = {});

}  // namespace bn
}  // namespace popnn

#endif
