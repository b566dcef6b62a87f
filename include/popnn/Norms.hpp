#ifndef popnn_Norms_hpp
#define popnn_Norms_hpp

#include "poplar/DebugContext.hpp"
#include "poplar/Export.hpp"
#include "poplar/Graph.hpp"
#include "poplar/Program.hpp"
#include "poplar/Tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace popnn {

/// Floating-point operations of a norm over activations of \p numActsElements elements with \p statisticsSize means (and as many
/// standard deviations) or \p paramsSize gammas: of the statistics and the normalisation; of the gradient of the activations; of the
/// gradients and updates of the parameters.
POPLAR_EXPORT std::uint64_t getNormFwdFlops(std::size_t statisticsSize, std::size_t numActsElements, bool computeStats = true);
POPLAR_EXPORT std::uint64_t getNormBwdFlops(std::size_t statisticsSize, std::size_t numActsElements);
POPLAR_EXPORT std::uint64_t getNormWuFlops(std::size_t paramsSize, std::size_t numActsElements);

/// A tensor {channels} for gamma, beta or both, of the type of \p acts {batch, channels, field ...}, each element near its channel's
/// activations. Throws poputil::poplibs_error for activations of fewer than two dimensions.
POPLAR_EXPORT poplar::Tensor createNormGamma(poplar::Graph& graph, const poplar::Tensor& acts,
                                             const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT poplar::Tensor createNormBeta(poplar::Graph& graph, const poplar::Tensor& acts,
                                            const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> createNormParams(poplar::Graph& graph, const poplar::Tensor acts,
                                                                         const poplar::DebugContext& debugContext = {});

}  // namespace popnn

#endif
