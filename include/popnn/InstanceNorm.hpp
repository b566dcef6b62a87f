#ifndef popnn_InstanceNorm_hpp
#define popnn_InstanceNorm_hpp

#include "popnn/GroupNorm.hpp"
#include "poputil/DebugInfo.hpp"

#include <cstdint>

namespace popnn {
namespace in {

// A group norm with a group for each channel: statistics are {batch * channels}. Shapes, options and errors as in popnn/GroupNorm.hpp.

inline std::pair<poplar::Tensor, poplar::Tensor> instanceNormStatistics(poplar::Graph& graph, const poplar::Tensor acts, float eps,
                                                                        poplar::program::Sequence& prog, bool unbiasedVarEstimate,
                                                                        bool stableAlgo, const poplar::Type& partialsType = poplar::FLOAT,
                                                                        const poplar::DebugContext& debugContext = {},
                                                                        const poplar::OptionFlags& options = {}) {
  return gn::groupNormStatistics(graph, acts, eps, prog, static_cast<unsigned>(acts.dim(1)), unbiasedVarEstimate, stableAlgo, partialsType,
                                 debugContext, options);
}

inline poplar::Tensor instanceNormWhiten(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& mean,
                                         const poplar::Tensor& invStdDev, poplar::program::Sequence& prog,
                                         const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  return gn::groupNormWhiten(graph, acts, mean, invStdDev, prog, debugContext, options);
}

inline std::pair<poplar::Tensor, poplar::Tensor> instanceNormalise(poplar::Graph& graph, const poplar::Tensor& acts,
                                                                   const poplar::Tensor& gamma, const poplar::Tensor& beta,
                                                                   const poplar::Tensor& mean, const poplar::Tensor& invStdDev,
                                                                   poplar::program::Sequence& prog,
                                                                   const poplar::DebugContext& debugContext = {},
                                                                   const poplar::OptionFlags& options = {}) {
  return gn::groupNormalise(graph, acts, gamma, beta, mean, invStdDev, prog, debugContext, options);
}

inline std::pair<poplar::Tensor, poplar::Tensor> instanceNormParamGradients(poplar::Graph& graph, const poplar::Tensor& acts,
                                                                            const poplar::Tensor& gradsIn, const poplar::Tensor& mean,
                                                                            const poplar::Tensor& iStdDev, poplar::program::Sequence& prog,
                                                                            const poplar::Type& partialsType = poplar::FLOAT,
                                                                            const poplar::DebugContext& debugContext = {},
                                                                            const poplar::OptionFlags& options = {}) {
  return gn::groupNormParamGradients(graph, acts, gradsIn, mean, iStdDev, prog, partialsType, debugContext, options);
}

inline std::pair<poplar::Tensor, poplar::Tensor> instanceNormParamGradients(poplar::Graph& graph, const poplar::Tensor& actsWhitened,
                                                                            const poplar::Tensor& gradsIn, poplar::program::Sequence& prog,
                                                                            const poplar::Type& partialsType = poplar::FLOAT,
                                                                            const poplar::DebugContext& debugContext = {},
                                                                            const poplar::OptionFlags& options = {}) {
  return gn::groupNormParamGradients(graph, actsWhitened, gradsIn, prog, partialsType, debugContext, options);
}

inline poplar::Tensor instanceNormGradients(poplar::Graph& graph, const poplar::Tensor& acts, const poplar::Tensor& gradsIn,
                                            const poplar::Tensor& mean, const poplar::Tensor& invStdDev, const poplar::Tensor& gamma,
                                            poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
                                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  return gn::groupNormGradients(graph, acts, gradsIn, mean, invStdDev, gamma, prog, partialsType, debugContext, options);
}

inline poplar::Tensor instanceNormGradients(poplar::Graph& graph, const poplar::Tensor& actsWhitened, const poplar::Tensor& gradsIn,
                                            const poplar::Tensor& invStdDev, const poplar::Tensor& gamma, poplar::program::Sequence& prog,
                                            const poplar::Type& partialsType = poplar::FLOAT, const poplar::DebugContext& debugContext = {},
                                            const poplar::OptionFlags& options = {}) {
  return gn::groupNormGradients(graph, actsWhitened, gradsIn, invStdDev, gamma, prog, partialsType, debugContext, options);
}

inline void instanceNormParamUpdate(poplar::Graph& graph, const poplar::Tensor& gammaDelta, const poplar::Tensor& betaDelta, float scale,
                                    poplar::Tensor& gamma, poplar::Tensor& beta, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  gn::groupNormParamUpdate(graph, gammaDelta, betaDelta, scale, gamma, beta, prog, debugContext, options);
}

inline void instanceNormParamUpdate(poplar::Graph& graph, const poplar::Tensor& gammaDelta, const poplar::Tensor& betaDelta,
                                    const poplar::Tensor& scale, poplar::Tensor& gamma, poplar::Tensor& beta,
                                    poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                    const poplar::OptionFlags& options = {}) {
  gn::groupNormParamUpdate(graph, gammaDelta, betaDelta, scale, gamma, beta, prog, debugContext, options);
}

/// Floating-point operations of \p numChannels channels of \p actsPerChannel activations: of the statistics (if \p computeEstimates) and
/// the normalisation; of the gradient of the activations; of the gradients and updates of the parameters.
POPLAR_EXPORT std::uint64_t getFwdFlops(std::uint64_t numChannels, std::uint64_t actsPerChannel, bool computeEstimates);
POPLAR_EXPORT std::uint64_t getBwdFlops(std::uint64_t numChannels, std::uint64_t actsPerChannel);
POPLAR_EXPORT std::uint64_t getWuFlops(std::uint64_t numChannels, std::uint64_t actsPerChannel);

}  // namespace in
}  // namespace popnn

#endif
