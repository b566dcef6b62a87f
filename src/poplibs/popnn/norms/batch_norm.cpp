#include <popnn/BatchNorm.hpp>
#include <poputil/OptionParsing.hpp>

#include "poplibs/popnn/norms/param_update.h"

namespace popnn {
namespace bn {

using namespace poplar;
using program::Sequence;
using Pair = std::pair<Tensor, Tensor>;

namespace {

// Norms of all kinds take the same options; what makes a group of channels means nothing here.
void check_options(const OptionFlags& options) {
  bool strided = true;
  const poplibs::OptionSpec spec{{"groupNormStridedChannelGrouping", poplibs::OptionHandler::createWithBool(strided)}};
  for (const auto& entry : options) spec.parse(entry.first, entry.second);
}

}  // namespace

Pair batchNormStatistics(Graph& graph, const Tensor acts, float eps, Sequence& prog, bool unbiasedVarEstimate, bool stableAlgo,
                         const Type& partialsType, const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  return poplin::normStatistics(graph, acts, eps, prog, unbiasedVarEstimate, stableAlgo, partialsType, {debug, "BatchNorm"});
}

Pair distributedBatchNormStatistics(Graph& graph, const Tensor acts, float eps, Sequence& prog, bool unbiasedVarEstimate,
                                    poplin::DistributedNormReduceCallback reduceCallback, unsigned normBatchSize, bool stableAlgo,
                                    const Type& partialsType, const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  return poplin::distributedNormStatistics(graph, acts, eps, prog, unbiasedVarEstimate, reduceCallback, normBatchSize, stableAlgo,
                                           partialsType, {debug, "BatchNorm"});
}

Tensor batchNormWhiten(Graph& graph, const Tensor& acts, const Tensor& mean, const Tensor& invStdDev, Sequence& prog,
                       const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  return poplin::normWhiten(graph, acts, mean, invStdDev, prog, {debug, "BatchNorm"});
}

Pair batchNormalise(Graph& graph, const Tensor& acts, const Tensor& gamma, const Tensor& beta, const Tensor& mean, const Tensor& invStdDev,
                    Sequence& prog, const DebugContext& debug, const OptionFlags& options) {
  const Tensor whitened = batchNormWhiten(graph, acts, mean, invStdDev, prog, debug, options);
  return {poplin::normalise(graph, whitened, gamma, beta, prog, {debug, "BatchNorm"}), whitened};
}

Tensor batchNormalise(Graph& graph, const Tensor& acts, const Tensor& combinedMultiplicand, const Tensor& addend, Sequence& prog,
                      const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  return poplin::normalise(graph, acts, combinedMultiplicand, addend, prog, {debug, "BatchNorm"});
}

Pair batchNormParamGradients(Graph& graph, const Tensor& acts, const Tensor& gradsIn, const Tensor& mean, const Tensor& iStdDev,
                             Sequence& prog, const Type& partialsType, const DebugContext& debug, const OptionFlags& options) {
  const Tensor whitened = batchNormWhiten(graph, acts, mean, iStdDev, prog, debug, options);
  return batchNormParamGradients(graph, whitened, gradsIn, prog, partialsType, debug, options);
}

Pair batchNormParamGradients(Graph& graph, const Tensor& actsWhitened, const Tensor& gradsIn, Sequence& prog, const Type& partialsType,
                             const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  return poplin::normParamGradients(graph, actsWhitened, gradsIn, prog, partialsType, {debug, "BatchNorm"});
}

Tensor batchNormGradients(Graph& graph, const Tensor& acts, const Tensor& gradsIn, const Tensor& mean, const Tensor& invStdDev,
                          const Tensor& gamma, Sequence& prog, const Type& partialsType, const DebugContext& debug,
                          const OptionFlags& options) {
  const Tensor whitened = batchNormWhiten(graph, acts, mean, invStdDev, prog, debug, options);
  return batchNormGradients(graph, whitened, gradsIn, invStdDev, gamma, prog, partialsType, debug, options);
}

Tensor batchNormGradients(Graph& graph, const Tensor& actsWhitened, const Tensor& gradsIn, const Tensor& invStdDev, const Tensor& gamma,
                          Sequence& prog, const Type& partialsType, const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  const Tensor scaled = poplin::normGradients(graph, gradsIn, gamma, prog, {debug, "BatchNorm"});
  return poplin::normStatisticsGradients(graph, actsWhitened, scaled, invStdDev, prog, partialsType, {debug, "BatchNorm"});
}

Tensor distributedBatchNormGradients(Graph& graph, const Tensor& actsWhitened, const Tensor& gradsIn, const Tensor& invStdDev,
                                     const Tensor& gamma, Sequence& prog, poplin::DistributedNormReduceCallback reduceCallback,
                                     unsigned normBatchSize, const Type& partialsType, const DebugContext& debug,
                                     const OptionFlags& options) {
  check_options(options);
  const Tensor scaled = poplin::normGradients(graph, gradsIn, gamma, prog, {debug, "BatchNorm"});
  return poplin::distributedNormStatisticsGradients(graph, actsWhitened, scaled, invStdDev, prog, reduceCallback, normBatchSize,
                                                    partialsType, {debug, "BatchNorm"});
}

Tensor distributedBatchNormGradients(Graph& graph, const Tensor& acts, const Tensor& gradsIn, const Tensor& mean, const Tensor& invStdDev,
                                     const Tensor& gamma, Sequence& prog, poplin::DistributedNormReduceCallback reduceCallback,
                                     unsigned normBatchSize, const Type& partialsType, const DebugContext& debug,
                                     const OptionFlags& options) {
  const Tensor whitened = batchNormWhiten(graph, acts, mean, invStdDev, prog, debug, options);
  return distributedBatchNormGradients(graph, whitened, gradsIn, invStdDev, gamma, prog, reduceCallback, normBatchSize, partialsType, debug,
                                       options);
}

void batchNormParamUpdate(Graph& graph, const Tensor& gammaDelta, const Tensor& betaDelta, float scale, Tensor& gamma, Tensor& beta,
                          Sequence& prog, const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  internal::update_params(graph, gammaDelta, betaDelta, scale, gamma, beta, prog, {debug, "BatchNorm"}, "popnn::bn::batchNormParamUpdate");
}

void batchNormParamUpdate(Graph& graph, const Tensor& gammaDelta, const Tensor& betaDelta, const Tensor& scale, Tensor& gamma, Tensor& beta,
                          Sequence& prog, const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  internal::update_params(graph, gammaDelta, betaDelta, scale, gamma, beta, prog, {debug, "BatchNorm"}, "popnn::bn::batchNormParamUpdate");
}

}  // namespace bn
}  // namespace popnn
