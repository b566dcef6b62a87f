#ifndef poplin_Convolution_hpp
#define poplin_Convolution_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplin/ConvParams.hpp>
#include <poplin/PlanningCache.hpp>

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <memory>
#include <set>
#include <tuple>

// Convolutions (see ConvParams for what they compute). G groups, N batch elements, Ci and Co channels of one group:
//   activations {N, G * Ci, field...},  weights {G, Co, Ci, kernel...},  results {N, G * Co, output field...}.
// Operands may lie anywhere and in any order of memory; those that createInput and createWeights make lie where the work is done.
//
// Options of all functions that take them (poplar::invalid_option for others):
//   availableMemoryProportion  double >= 0 [0.6]: share of a tile's memory for operands, partial sums and the result of a step
//   partialsType               "float" | "half" [float]: type of sums between tiles; inside a tile sums are float
//   partialsType.interTile     the same
//   partialsType.interIPU      the same
//   pass                       "NONE" | "INFERENCE_FWD" | "TRAINING_FWD" | "TRAINING_BWD" | "TRAINING_WU" | "FC_INFERENCE_FWD" |
//                              "FC_TRAINING_FWD" | "FC_TRAINING_BWD" | "FC_TRAINING_WU"
//   planConstraints            JSON: {"partition": {"groups": n, "batch": n, "outChans": n, "inChans": n, "field": [n ...]}}
//   pando.planObjective        "cycles" | "hostTime" (rows of the field stay whole) [cycles for IPU targets, hostTime for the CPU target]
//   pando.inRows               "true" (default): on the CPU target, convolutions of floats are cut into rows of the result and read images
//   where they
//                              lie; "false": cut by the plan, as on tiles. A plan that is asked for is the plan.
//   pando.winograd             "true" (default): of these, kernels of 3 x 3 with channels in multiples of 16 are computed with 16 products
//   where the
//                              definition has 36; each result differs from the definition by at most 1e-6 of the sum of its products'
//                              magnitudes
//   use128BitConvUnitLoad, enableMultiStageReduce, enableFastReduce, remapOutputTensor, enableConvDithering, disableTransformations,
//   enableSingleInputReduce, gatherConvOutput, enableAmpHalfEnginesPlan, insertTransformsCycleCountProgs,
//   disableSRForAMPVertices                      "true" | "false", no effect on results
//   startTileMultiplier, numIOTiles, tilesPerIPU, maxOutputMemoryProportion, planConstraintsOutputFilename,
//   partialsType.interTile ...                   as PopLibs takes them
//
// Wrong shapes or types throw poputil::poplibs_error.

namespace poplin {

/// Floating point operations of the forward pass: two for each multiplication that does not meet a padding or dilation zero.
POPLAR_EXPORT uint64_t getFwdFlops(const ConvParams& params);
/// The same of the gradient of the input.
POPLAR_EXPORT uint64_t getBwdFlops(const ConvParams& params);
/// The same of the gradient of the weights.
POPLAR_EXPORT uint64_t getWuFlops(const ConvParams& params);

/// Cycles if every multiplier of all tiles of the graph's target were busy in every cycle.
POPLAR_EXPORT double getFwdPerfectCycleCount(const poplar::Graph& graph, const ConvParams& params);
POPLAR_EXPORT double getBwdPerfectCycleCount(const poplar::Graph& graph, const ConvParams& params);
POPLAR_EXPORT double getWuPerfectCycleCount(const poplar::Graph& graph, const ConvParams& params);

/// {G, Co, Ci, kernel...} of the input type, mapped for convolution() with the same parameters and options.
POPLAR_EXPORT poplar::Tensor createWeights(poplar::Graph& graph, const ConvParams& params, const poplar::DebugContext& debugContext = {},
                                           const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// {channels of \p activations}, of their type, each near the activations of its channel.
POPLAR_EXPORT poplar::Tensor createBiases(poplar::Graph& graph, const poplar::Tensor& activations,
                                          const poplar::DebugContext& debugContext = {"biases"});
POPLAR_EXPORT poplar::Tensor createBiases(poplar::Graph& graph, const poplar::Tensor& activations, const ConvParams& params,
                                          const poplar::DebugContext& debugContext = {"biases"}, const poplar::OptionFlags& options = {},
                                          PlanningCache* cache = nullptr);

/// {N, G * Ci, field...} of the input type, mapped for convolution() with the same parameters and options.
POPLAR_EXPORT poplar::Tensor createInput(poplar::Graph& graph, const ConvParams& params, const poplar::DebugContext& debugContext = {},
                                         const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// {N, G * Co, output field...} of the output type, mapped as convolution() maps its result.
POPLAR_EXPORT poplar::Tensor createConvOutput(poplar::Graph& graph, const ConvParams& params, const poplar::DebugContext& debugContext = {},
                                              const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// Appends the convolution of \p in {N, G * Ci, field...} with \p weights {G, Co, Ci, kernel...} to \p prog and returns its result
/// {N, G * Co, output field...}. With \p transposeAndFlipWeights the weights are {G, Ci, Co, kernel...} and read with channels
/// swapped and all kernel dimensions reversed, as the gradient of the input wants them.
POPLAR_EXPORT poplar::Tensor convolution(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Tensor& weights,
                                         const ConvParams& params, bool transposeAndFlipWeights, poplar::program::Sequence& prog,
                                         const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                         PlanningCache* cache = nullptr);
/// The same into \p out.
POPLAR_EXPORT void convolutionWithOutput(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Tensor& weights,
                                         const poplar::Tensor& out, const ConvParams& params, bool transposeAndFlipWeights,
                                         poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                         const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// A convolution to plan, on a target and with options that live as long as the call.
using ConvPlanParams = std::tuple<const poplar::Target*, const ConvParams, const poplar::OptionFlags*>;

/// Plans \p convs and keeps the plans in \p cache.
POPLAR_EXPORT void preplanConvolutions(const std::set<ConvPlanParams>& convs, PlanningCache& cache);
POPLAR_EXPORT void preplanConvolutions(poplar::Graph& graph, const std::set<ConvPlanParams>& convs, PlanningCache& cache);

/// Appends a copy of \p weightsIn {G, Co, Ci, kernel...} into \p weightsOut {G, Ci, Co, kernel...}: channels swapped, all kernel
/// dimensions reversed.
POPLAR_EXPORT void weightsTransposeChansFlipXY(poplar::Graph& graph, const poplar::Tensor& weightsIn, const poplar::Tensor& weightsOut,
                                               poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                               const poplar::OptionFlags& options = {});

/// Appends the gradient of the weights and returns it, {G, Co, Ci, kernel...}, from \p zDeltas {N, G * Co, output field...}, the
/// gradient of the result, of its type or of the input's, and \p activations {N, G * Ci, field...}; \p params are the forward pass's.
POPLAR_EXPORT poplar::Tensor calculateWeightDeltas(poplar::Graph& graph, const poplar::Tensor& zDeltas, const poplar::Tensor& activations,
                                                   const ConvParams& params, poplar::program::Sequence& prog,
                                                   const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                                   PlanningCache* cache = nullptr);

/// weights += scale * (the gradient of the weights). \p scale has one element.
POPLAR_EXPORT void convolutionWeightUpdate(poplar::Graph& graph, const poplar::Tensor& zDeltas, const poplar::Tensor& weights,
                                           const poplar::Tensor& activations, ConvParams params, const poplar::Tensor& scale,
                                           poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                           const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);
POPLAR_EXPORT void convolutionWeightUpdate(poplar::Graph& graph, const poplar::Tensor& zDeltas, const poplar::Tensor& weights,
                                           const poplar::Tensor& activations, ConvParams params, float scale,
                                           poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                           const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// biases[c] += scale * (sum of \p zDeltas {N, channels, field...} over all but channels).
POPLAR_EXPORT void convolutionBiasUpdate(poplar::Graph& graph, const poplar::Tensor& zDeltas, const poplar::Tensor& biases,
                                         const poplar::Tensor& scale, const poplar::OptionFlags& options, poplar::program::Sequence& prog,
                                         const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT void convolutionBiasUpdate(poplar::Graph& graph, const poplar::Tensor& zDeltas, const poplar::Tensor& biases, float scale,
                                         const poplar::OptionFlags& options, poplar::program::Sequence& prog,
                                         const poplar::DebugContext& debugContext = {});

/// in[n, c, ...] += biases[c], in place. Throws poputil::poplibs_error if \p in is not parallel writeable.
POPLAR_EXPORT void addBias(poplar::Graph& graph, const poplar::Tensor& in, const poplar::Tensor& biases, poplar::program::Sequence& prog,
                           const poplar::DebugContext& debugContext = {});

/// Writes the plan for these parameters as text.
POPLAR_EXPORT void reportPlanInfo(std::ostream& out, const poplar::Graph& graph, const ConvParams& params,
                                  const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

struct PlanCosts {
  /// Of the machine, or nanoseconds for the objective hostTime.
  std::size_t cycles;
  /// Bytes on the fullest tile.
  std::size_t memory;
  constexpr static size_t unknown = std::numeric_limits<std::size_t>::max();
};

/// What the plan is expected to cost.
POPLAR_EXPORT PlanCosts reportPlanEstimatedCosts(const poplar::Graph& graph, const ConvParams& params,
                                                 const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

namespace internal {

/// The parts of a plan's cost. What the plan does not do costs nothing.
struct DetailedPlanCosts {
  std::size_t parallelSplit = 1;
  std::size_t serialSplit = 1;
  PlanCosts broadcast = {};
  PlanCosts rearrangement = {};
  PlanCosts dynamicSlice = {};
  PlanCosts transform = {};
  PlanCosts exchange = {};
  PlanCosts tileLevelTransform = {};
  PlanCosts inputsCast = {};
  PlanCosts compute = {};
  PlanCosts reduction = {};
  PlanCosts dynamicUpdate = {};
  PlanCosts addInPlace = {};
  PlanCosts outputCast = {};
  PlanCosts total = {};

  /// Calls \p fn with each part, in the order of time; with the total last if \p includeTotal; without what is done once for all
  /// serial steps if \p serialSplitOnly.
  template <typename Function> void apply(Function fn, bool includeTotal = true, bool serialSplitOnly = false) const {
    visit(*this, fn, includeTotal, serialSplitOnly);
  }
  template <typename Function> void apply(Function fn, bool includeTotal = true, bool serialSplitOnly = false) {
    visit(*this, fn, includeTotal, serialSplitOnly);
  }

 private:
  template <typename Costs, typename Function> static void visit(Costs& costs, Function& fn, bool total, bool step) {
    if (!step) {
      fn(costs.broadcast);
      fn(costs.rearrangement);
    }
    fn(costs.dynamicSlice);
    fn(costs.transform);
    fn(costs.exchange);
    fn(costs.tileLevelTransform);
    fn(costs.inputsCast);
    fn(costs.compute);
    fn(costs.reduction);
    fn(costs.dynamicUpdate);
    if (!step) {
      fn(costs.addInPlace);
      fn(costs.outputCast);
    }
    if (total) fn(costs.total);
  }
};

/// Writes the splits and, for each part in the order of apply(), cycles and memory, between spaces; operator>> reads that.
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, DetailedPlanCosts const& c);
POPLAR_EXPORT std::istream& operator>>(std::istream& is, DetailedPlanCosts& c);

POPLAR_EXPORT DetailedPlanCosts reportDetailedPlanEstimatedCosts(const poplar::Graph& graph, const ConvParams& params,
                                                                 const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

}  // namespace internal

/// Writes the plan of the gradient of the weights of \p fwdParams as text.
POPLAR_EXPORT void reportWeightUpdatePlanInfo(std::ostream& out, const poplar::Graph& graph, const ConvParams& fwdParams,
                                              const poplar::OptionFlags& fwdOptions = {}, PlanningCache* cache = nullptr);

/// \p weights of a fully connected layer {G, Ci, Co} as the gradient of its input wants them: {G, Co, Ci}. Nothing is copied.
POPLAR_EXPORT poplar::Tensor fullyConnectedWeightTranspose(poplar::Graph& graph, poplar::Tensor weights, const ConvParams& params,
                                                           poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                                           const poplar::OptionFlags& options = {}, PlanningCache* cache = nullptr);

/// Throws poplar::invalid_option if an option is unknown or has no proper value.
POPLAR_EXPORT void convolutionValidateOptions(const poplar::OptionFlags& options);

}  // namespace poplin

#endif
