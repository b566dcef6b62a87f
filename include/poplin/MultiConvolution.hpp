#ifndef poplin_MultiConvolution_hpp
#define poplin_MultiConvolution_hpp

#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplin/Convolution.hpp>

#include <string>
#include <vector>

// Several independent convolutions at a time: their vertices share compute sets. Each has the options of poplin::convolution; the
// options of the whole are planType ("parallel" | "serial"), perConvReservedTiles and cycleBackOff, which do not change results. The option
// insertTransformsCycleCountProgs has to be the same for all of them: poputil::poplibs_error.

namespace poplin {
namespace multiconv {

struct CreateTensorArgs {
  ConvParams params;
  poplar::OptionFlags options;
  std::string name;
};

/// Weights, or input, of convolution \p weightsIndex of \p args. Throws poputil::poplibs_error if there is no such one.
POPLAR_EXPORT poplar::Tensor createWeights(poplar::Graph& graph, const std::vector<CreateTensorArgs>& args, unsigned weightsIndex,
                                           const poplar::OptionFlags& options = {}, poplin::PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createInput(poplar::Graph& graph, const std::vector<CreateTensorArgs>& args, unsigned inputIndex,
                                         const poplar::OptionFlags& options = {}, poplin::PlanningCache* cache = nullptr);

struct ConvolutionArgs {
  poplar::Tensor inputs;
  poplar::Tensor weights;
  ConvParams params;
  poplar::OptionFlags options;
};

/// Replaces the weights of each of \p args by new ones with the values of \p weightsIn, channels swapped and field reversed.
POPLAR_EXPORT void weightsTransposeChansFlipXY(poplar::Graph& graph, std::vector<ConvolutionArgs>& args,
                                               const std::vector<poplar::Tensor>& weightsIn, poplar::program::Sequence& prog,
                                               const poplar::OptionFlags& options, const poplar::DebugContext& debugContext,
                                               poplin::PlanningCache* cache);

/// One result for each of \p args.
POPLAR_EXPORT std::vector<poplar::Tensor> convolution(poplar::Graph& graph, const std::vector<ConvolutionArgs>& args,
                                                      bool transposeAndFlipWeights, poplar::program::Sequence& prog,
                                                      const poplar::DebugContext& debugContext = {},
                                                      const poplar::OptionFlags& options = {}, poplin::PlanningCache* cache = nullptr);

struct CalculateWeightDeltasArgs {
  poplar::Tensor zDeltas;
  poplar::Tensor activations;
  ConvParams params;
  poplar::OptionFlags options;
};

/// One gradient of weights for each of \p args.
POPLAR_EXPORT std::vector<poplar::Tensor> calculateWeightDeltas(poplar::Graph& graph, const std::vector<CalculateWeightDeltasArgs>& args,
                                                                poplar::program::Sequence& prog,
                                                                const poplar::DebugContext& debugContext = {},
                                                                const poplar::OptionFlags& options = {},
                                                                poplin::PlanningCache* cache = nullptr);

struct ConvWeightUpdateArgs {
  poplar::Tensor zDeltas;
  poplar::Tensor weights;
  poplar::Tensor activations;
  poplar::Tensor scale;
  ConvParams params;
  poplar::OptionFlags options;
};

/// weights += scale * gradient, for each of \p args.
POPLAR_EXPORT void convolutionWeightUpdate(poplar::Graph& graph, const std::vector<ConvWeightUpdateArgs>& args,
                                           poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                           const poplar::OptionFlags& options = {}, poplin::PlanningCache* cache = nullptr);

struct ConvWeightUpdateArgsScalar {
  poplar::Tensor zDeltas;
  poplar::Tensor weights;
  poplar::Tensor activations;
  float scale;
  ConvParams params;
  poplar::OptionFlags options;
};

POPLAR_EXPORT void convolutionWeightUpdate(poplar::Graph& graph, const std::vector<ConvWeightUpdateArgsScalar>& args,
                                           poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                           const poplar::OptionFlags& options = {}, poplin::PlanningCache* cache = nullptr);

}  // namespace multiconv
}  // namespace poplin

#endif
