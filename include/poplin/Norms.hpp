#ifndef poplin_Norms_hpp
#define poplin_Norms_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>

#include <functional>
#include <utility>
#include <vector>

// The parts of batch-like normalisation. Activations and gradients are {N, channels, field...}; statistics and parameters are
// {channels}, taken over all but the channels. A group, instance or layer norm regroups its activations to that form.
//
// Statistics and sums are in float; results have the type of the activations. Activations of fewer than two dimensions, operands
// whose shapes do not fit together, and partials that are neither FLOAT nor HALF throw poputil::poplibs_error.

namespace poplin {

/// {channels}, to scale normalised activations with; mapped near those of its channel. Of the type of \p acts if none is given.
POPLAR_EXPORT poplar::Tensor createNormGamma(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Type& type,
                                             const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor createNormGamma(poplar::Graph& graph, const poplar::Tensor& acts,
                                             const poplar::DebugContext& debugContext = {});
/// {channels}, to add to normalised activations.
POPLAR_EXPORT poplar::Tensor createNormBeta(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Type& type,
                                            const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor createNormBeta(poplar::Graph& graph, const poplar::Tensor& acts,
                                            const poplar::DebugContext& debugContext = {});
/// Gamma and beta.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> createNormParams(poplar::Graph& graph, const poplar::Tensor& acts,
                                                                         const poplar::DebugContext& debugContext = {});

/// Mean, and 1 / sqrt(variance + eps). \p unbiasedVarEstimate divides by one less than the number of elements; \p stableAlgo takes
/// the variance of the differences from the mean, in a second pass.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> normStatistics(poplar::Graph& graph, const poplar::Tensor& actsUngrouped, float eps,
                                                                       poplar::program::Sequence& prog, bool unbiasedVarEstimate,
                                                                       bool stableAlgo = false,
                                                                       const poplar::Type& partialsType = poplar::FLOAT,
                                                                       const poplar::DebugContext& debugContext = {});

/// Adds up each of \p inputsToReduce over groups of \p groupSize replicas and returns the sums.
using DistributedNormReduceCallback = std::function<std::vector<poplar::Tensor>(
    poplar::Graph& replicatedGraph, const std::vector<poplar::Tensor>& inputsToReduce, poplar::program::Sequence& prog, unsigned groupSize,
    const poplar::DebugContext& debugContext, const poplar::OptionFlags& options)>;

/// The statistics of \p normSize batch elements, those of normSize / N replicas; \p normSize is a multiple of N.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> distributedNormStatistics(
    poplar::Graph& replicatedGraph, const poplar::Tensor& actsUngrouped, float eps, poplar::program::Sequence& prog,
    bool unbiasedVarEstimate, DistributedNormReduceCallback allReduceCallback, unsigned normSize, bool stableAlgo = false,
    const poplar::Type& partialsType = poplar::FLOAT, const poplar::DebugContext& debugContext = {});

/// (acts - mean) * iStdDev.
POPLAR_EXPORT poplar::Tensor normWhiten(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& mean,
                                        const poplar::Tensor& iStdDev, poplar::program::Sequence& prog,
                                        const poplar::DebugContext& debugContext = {});

/// actsWhitened * gamma + beta.
POPLAR_EXPORT poplar::Tensor normalise(poplar::Graph& graph, const poplar::Tensor& actsWhitened, const poplar::Tensor& gamma,
                                       const poplar::Tensor& beta, poplar::program::Sequence& prog,
                                       const poplar::DebugContext& debugContext = {});

/// The gradients of gamma, the sums of gradsIn * actsWhitened, and of beta, the sums of gradsIn.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> normParamGradients(poplar::Graph& graph, const poplar::Tensor& actsWhitened,
                                                                           const poplar::Tensor& gradsIn, poplar::program::Sequence& prog,
                                                                           const poplar::Type& partialsType = poplar::FLOAT,
                                                                           const poplar::DebugContext& debugContext = {});

/// gradsIn * gamma: the gradient of the whitened activations.
POPLAR_EXPORT poplar::Tensor normGradients(poplar::Graph& graph, const poplar::Tensor& gradsIn, const poplar::Tensor& gamma,
                                           poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

/// The gradient of the activations from that of the whitened ones:
/// (gradsIn - mean(gradsIn) - actsWhitened * mean(gradsIn * actsWhitened)) * invStdDev.
POPLAR_EXPORT poplar::Tensor normStatisticsGradients(poplar::Graph& graph, const poplar::Tensor& actsWhitened,
                                                     const poplar::Tensor& gradsIn, const poplar::Tensor& invStdDev,
                                                     poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
                                                     const poplar::DebugContext& debugContext = {});
/// The same with means over \p normSize batch elements, those of normSize / N replicas.
POPLAR_EXPORT poplar::Tensor distributedNormStatisticsGradients(poplar::Graph& replicatedGraph, const poplar::Tensor& actsWhitened,
                                                                const poplar::Tensor& gradsIn, const poplar::Tensor& invStdDev,
                                                                poplar::program::Sequence& prog,
                                                                poplin::DistributedNormReduceCallback reduceCallback, unsigned normSize,
                                                                const poplar::Type& partialsType = poplar::FLOAT,
                                                                const poplar::DebugContext& debugContext = {});

}  // namespace poplin

#endif
