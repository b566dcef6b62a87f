#include <poplin/Norms.hpp>
#include <popnn/InstanceNorm.hpp>
#include <popnn/Norms.hpp>

namespace popnn {

using namespace poplar;

// Statistics: a sum and a sum of squares for each element, and for each mean two divisions, a square, a difference and a root.
// Normalisation: a difference, two products and a sum for each element.
std::uint64_t getNormFwdFlops(std::size_t statisticsSize, std::size_t numActsElements, bool computeStats) {
  return 4 * numActsElements + (computeStats ? 3 * numActsElements + 5 * statisticsSize : 0);
}
// The product with gamma, the sums of gradients and of their products with activations, and the combination of the three.
std::uint64_t getNormBwdFlops(std::size_t statisticsSize, std::size_t numActsElements) { return 8 * numActsElements + 2 * statisticsSize; }
std::uint64_t getNormWuFlops(std::size_t paramsSize, std::size_t numActsElements) { return 3 * numActsElements + 4 * paramsSize; }

Tensor createNormGamma(Graph& graph, const Tensor& acts, const DebugContext& debug) { return poplin::createNormGamma(graph, acts, debug); }
Tensor createNormBeta(Graph& graph, const Tensor& acts, const DebugContext& debug) { return poplin::createNormBeta(graph, acts, debug); }
std::pair<Tensor, Tensor> createNormParams(Graph& graph, const Tensor acts, const DebugContext& debug) {
  return poplin::createNormParams(graph, acts, debug);
}

namespace in {

std::uint64_t getFwdFlops(std::uint64_t numChannels, std::uint64_t actsPerChannel, bool computeEstimates) {
  return getNormFwdFlops(numChannels, numChannels * actsPerChannel, computeEstimates);
}
std::uint64_t getBwdFlops(std::uint64_t numChannels, std::uint64_t actsPerChannel) {
  return getNormBwdFlops(numChannels, numChannels * actsPerChannel);
}
std::uint64_t getWuFlops(std::uint64_t numChannels, std::uint64_t actsPerChannel) {
  return getNormWuFlops(numChannels, numChannels * actsPerChannel);
}

}  // namespace in

}  // namespace popnn
