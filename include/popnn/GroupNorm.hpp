#ifndef popnn_GroupNorm_hpp
#define popnn_GroupNorm_hpp

#include <poplar/OptionFlags.hpp>
#include "poplar/DebugContext.hpp"
#include "poplar/Export.hpp"
#include "poplar/Graph.hpp"
#include "poplar/Program.hpp"
#include "poplar/Tensor.hpp"

#include <array>
#include <utility>

namespace popnn {
namespace gn {

// Activations and their gradients are {batch, channels, field ...}; statistics (mean, and 1 / sqrt(variance + eps)) are
// {batch * groups}, each batch element's groups together; parameters (gamma, beta) are {channels}. Sums are taken in `partialsType`.
//
// Options: groupNormStridedChannelGrouping (true, false) [true]: channel c is in group c mod groups; otherwise a group is a run of
// channels. It must be the same in all calls for the same activations. Other options throw poplar::invalid_option. Shapes and types that
// do not fit together, and channels that are no multiple of the groups, throw poputil::poplibs_error.

/// Mean and inverse standard deviation of each group of each batch element. \p unbiasedVarEstimate divides by one less than the
/// number of elements; \p stableAlgo takes the variance of the differences from the mean, in a second pass.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> groupNormStatistics(poplar::Graph& graph, const poplar::Tensor acts, float eps,
                                                                            poplar::program::Sequence& prog, unsigned numGroups,
                                                                            bool unbiasedVarEstimate, bool stableAlgo = false,
                                                                            const poplar::Type& partialsType = poplar::FLOAT,
                                                                            const poplar::DebugContext& debugContext = {},
                                                                            const poplar::OptionFlags& options = {});

/// (acts - mean) * invStdDev.
POPLAR_EXPORT poplar::Tensor groupNormWhiten(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& mean,
                                             const poplar::Tensor& invStdDev, poplar::program::Sequence& prog,
                                             const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
/// {whitened * gamma + beta, whitened}.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> groupNormalise(poplar::Graph& graph, const poplar::Tensor& acts,
                                                                       const poplar::Tensor& gamma, const poplar::Tensor& beta,
                                                                       const poplar::Tensor& mean, const poplar::Tensor& invStdDev,
                                                                       poplar::program::Sequence& prog,
                                                                       const poplar::DebugContext& debugContext = {},
                                                                       const poplar::OptionFlags& options = {});

/// The gradients of gamma and beta, given those of the result.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> groupNormParamGradients(
    poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& gradsIn, const poplar::Tensor& mean,
    const poplar::Tensor& iStdDev, poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> groupNormParamGradients(poplar::Graph& graph, const poplar::Tensor& actsWhitened,
                                                                                const poplar::Tensor& gradsIn,
                                                                                poplar::program::Sequence& prog,
                                                                                const poplar::Type& partialsType = poplar::FLOAT,
                                                                                const poplar::DebugContext& debugContext = {},
                                                                                const poplar::OptionFlags& options = {});

/// The gradient of the activations, given that of the result.
POPLAR_EXPORT poplar::Tensor groupNormGradients(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& gradsIn,
                                                const poplar::Tensor& mean, const poplar::Tensor& invStdDev, const poplar::Tensor& gamma,
                                                poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
                                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT poplar::Tensor groupNormGradients(poplar::Graph& graph, const poplar::Tensor& actsWhitened, const poplar::Tensor& gradsIn,
                                                const poplar::Tensor& invStdDev, const poplar::Tensor& gamma,
                                                poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
                                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});

/// gamma += scale * gammaDelta, beta += scale * betaDelta.
POPLAR_EXPORT void groupNormParamUpdate(poplar::Graph& graph, const poplar::Tensor& gammaDelta, const poplar::Tensor& betaDelta,
                                        float scale, poplar::Tensor& gamma, poplar::Tensor& beta, poplar::program::Sequence& prog,
                                        const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {});
POPLAR_EXPORT void groupNormParamUpdate(poplar::Graph& graph, const poplar::Tensor& gammaDelta, const poplar::Tensor& betaDelta,
                                        const poplar::Tensor& scale, poplar::Tensor& gamma, poplar::Tensor& beta,
                                        poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                        const poplar::OptionFlags& options = {});

// Pando's own: several of the functions above at once. On the CPU target, floats {batch, channels} of one group, each batch element's in
// one piece, are read once; the option pando.inRows (true, false) [true] says whether they may be. Elsewhere, and for everything else, the
// functions above follow each other.

/// {normalised, mean, inverse standard deviation}.
POPLAR_EXPORT std::array<poplar::Tensor, 3> groupNorm(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& gamma,
                                                      const poplar::Tensor& beta, float eps, poplar::program::Sequence& prog,
                                                      unsigned numGroups, const poplar::DebugContext& debugContext = {},
                                                      const poplar::OptionFlags& options = {});
/// The gradients of {the activations, gamma, beta}.
POPLAR_EXPORT std::array<poplar::Tensor, 3> groupNormAllGradients(poplar::Graph& graph, const poplar::Tensor& acts,
                                                                  const poplar::Tensor& gradsIn, const poplar::Tensor& mean,
                                                                  const poplar::Tensor& invStdDev, const poplar::Tensor& gamma,
                                                                  poplar::program::Sequence& prog,
                                                                  const poplar::DebugContext& debugContext = {},
                                                                  const poplar::OptionFlags& options = {});

}  // namespace gn
}  // namespace popnn

#endif
