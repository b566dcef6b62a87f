#ifndef popnn_Gru_hpp
#define popnn_Gru_hpp

#include <popnn/GruDef.hpp>
#include <popnn/NonLinearityDef.hpp>
#include <popnn/Rnn.hpp>

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplin/MatMul.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace popnn {

/// Gated recurrent units. With recurrent activation s and activation a, and * element by element:
///   r = s(x Wr + h Rr + br)   u = s(x Wu + h Ru + bu)   c = a(x Wc + (r * h) Rc + bc)      h' = u * h + (1 - u) * c
/// With resetAfter each unit has a second bias, of the product with the state, and c = a(x Wc + bc + r * (h Rc + bc')).
///
/// Forms with attention (auGru...): \p attScores, {batch, time steps}, of the layer's type, has a number for each step: (1 - it) * u stands
/// in the place of u in the last formula. Forms with \p realTimeSteps, {batch}, INT or UNSIGNED_INT: so many steps of each sequence count;
/// behind them the state is 0. So with params.rnn.varTimeSteps (one of both may be given), but without outputFullSequence the output is
/// that of each sequence's last step.
///
/// Options of matrix products are accepted and go to them; others of the original are accepted and have no effect. All throw
/// poputil::poplibs_error for shapes and types that do not fit the parameters.
namespace gru {

POPLAR_EXPORT std::vector<BasicGruCellUnit> getDefaultBasicGruCellOrder();

struct GruParams {
  rnn::RnnParams rnn;
  /// The output is {time steps, batch, size}; otherwise the last step's, {batch, size}.
  bool outputFullSequence = true;
  /// The gradient of the input is asked for.
  bool calcInputGradients = true;
  /// Where weights have the units.
  std::vector<BasicGruCellUnit> cellOrder = getDefaultBasicGruCellOrder();
  /// The reset gate after the product with the state, which has biases of its own.
  bool resetAfter = false;
  NonLinearityType activation = NonLinearityType::TANH;
  NonLinearityType recurrentActivation = NonLinearityType::SIGMOID;

  GruParams() = default;
  GruParams(poplar::Type dataType, std::size_t batchSize, std::size_t timeSteps, std::vector<std::size_t> layerSizes,
            NonLinearityType activation_ = NonLinearityType::TANH, NonLinearityType recurrentActivation_ = NonLinearityType::SIGMOID)
      : rnn(dataType, batchSize, timeSteps, std::move(layerSizes)), activation(activation_), recurrentActivation(recurrentActivation_) {}
  /// With sequences of different lengths: \p timeSteps is rnn.varTimeSteps.
  GruParams(poplar::Type dataType, std::size_t batchSize, std::size_t maxTimeSteps, const poplar::Tensor& timeSteps,
            std::vector<std::size_t> layerSizes, NonLinearityType activation_ = NonLinearityType::TANH,
            NonLinearityType recurrentActivation_ = NonLinearityType::SIGMOID)
      : rnn(dataType, batchSize, maxTimeSteps, timeSteps, std::move(layerSizes)),
        activation(activation_),
        recurrentActivation(recurrentActivation_) {}
};

/// Multiplications and additions of products, sums and biases; not those of non-linearities. All three throw poputil::poplibs_error
/// unless there are two layer sizes.
POPLAR_EXPORT std::uint64_t getBasicGruCellFwdFlops(const GruParams& params);
POPLAR_EXPORT std::uint64_t getBasicGruCellBwdFlops(const GruParams& params);
POPLAR_EXPORT std::uint64_t getBasicGruCellWuFlops(const GruParams& params);

/// W {3, input size, output size}, R {3, output size, output size}, b {3, output size}; with resetAfter b {3, 2, output size}.
struct GruWeights {
  poplar::Tensor inputWeights;
  poplar::Tensor outputWeights;
  poplar::Tensor biases;
};

/// {time steps, batch, input size}.
POPLAR_EXPORT poplar::Tensor createInput(poplar::Graph& graph, const GruParams& params, const poplar::DebugContext& debugContext,
                                         const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);
/// {batch, output size}.
POPLAR_EXPORT poplar::Tensor createInitialState(poplar::Graph& graph, const GruParams& params, const poplar::DebugContext& debugContext,
                                                const poplar::OptionFlags& options = {}, poplin::PlanningCache* cache = nullptr);
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> createWeightsKernel(poplar::Graph& graph, const GruParams& params,
                                                                            const poplar::DebugContext& debugContext,
                                                                            const poplar::OptionFlags& options = {},
                                                                            poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor createWeightsBiases(poplar::Graph& graph, const GruParams& params, const poplar::DebugContext& debugContext,
                                                 const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT GruWeights createWeights(poplar::Graph& graph, const GruParams& params, const poplar::DebugContext& debugContext,
                                       const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);

/// {batch, time steps}.
POPLAR_EXPORT poplar::Tensor createAttention(poplar::Graph& graph, const GruParams& params, const poplar::DebugContext& debugContext,
                                             const poplar::OptionFlags& options = {});
/// \p intermediates, if not null, receives what the gradients need.
POPLAR_EXPORT poplar::Tensor gruFwd(poplar::Graph& graph, const GruParams& params, const poplar::Tensor& stateInit,
                                    const poplar::Tensor& in, const GruWeights& weights, poplar::Tensor* intermediates,
                                    poplar::program::Sequence& fwdProg, const poplar::DebugContext& debugContext = {},
                                    const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor gruFwd(poplar::Graph& graph, const GruParams& params, const poplar::Tensor& stateInit,
                                    const poplar::Tensor& in, const poplar::Tensor& realTimeSteps, const GruWeights& weights,
                                    poplar::Tensor* intermediates, poplar::program::Sequence& fwdProg,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                    poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor auGruFwd(poplar::Graph& graph, const GruParams& params, const poplar::Tensor& stateInit,
                                      const poplar::Tensor& in, const GruWeights& weights, poplar::Tensor* intermediates,
                                      const poplar::Tensor& attScores, poplar::program::Sequence& fwdProg,
                                      const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                      poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor auGruFwd(poplar::Graph& graph, const GruParams& params, const poplar::Tensor& stateInit,
                                      const poplar::Tensor& in, const poplar::Tensor& realTimeSteps, const GruWeights& weights,
                                      poplar::Tensor* intermediates, const poplar::Tensor& attScores, poplar::program::Sequence& fwdProg,
                                      const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                      poplin::PlanningCache* planningCache = nullptr);
/// The gradient of the initial state, given that of the output (of the last step's alone, without outputFullSequence). \p inputGrad and
/// \p bwdIntermediates may be null.
POPLAR_EXPORT poplar::Tensor gruBwd(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                                    const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates, const GruWeights& weights,
                                    const poplar::Tensor& fwdInputSeq, const poplar::Tensor& fwdOutput, const poplar::Tensor& gradLayerNext,
                                    poplar::Tensor* inputGrad, poplar::Tensor* bwdIntermediates,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                    poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor gruBwd(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                                    const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates, const GruWeights& weights,
                                    const poplar::Tensor& fwdInputSeq, const poplar::Tensor& realTimeSteps, const poplar::Tensor& fwdOutput,
                                    const poplar::Tensor& gradLayerNext, poplar::Tensor* inputGrad, poplar::Tensor* bwdIntermediates,
                                    const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                    poplin::PlanningCache* planningCache = nullptr);
/// \p attentionsGrad, {batch, time steps}, may be null.
POPLAR_EXPORT poplar::Tensor auGruBwd(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                                      const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates,
                                      const GruWeights& weights, const poplar::Tensor& fwdInputSeq, const poplar::Tensor& fwdOutput,
                                      const poplar::Tensor& gradLayerNext, poplar::Tensor* inputGrad, poplar::Tensor* bwdIntermediates,
                                      const poplar::Tensor& attentions, poplar::Tensor* attentionsGrad,
                                      const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                      poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor auGruBwd(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                                      const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates,
                                      const GruWeights& weights, const poplar::Tensor& fwdInputSeq, const poplar::Tensor& realTimeSteps,
                                      const poplar::Tensor& fwdOutput, const poplar::Tensor& gradLayerNext, poplar::Tensor* inputGrad,
                                      poplar::Tensor* bwdIntermediates, const poplar::Tensor& attentions, poplar::Tensor* attentionsGrad,
                                      const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                      poplin::PlanningCache* planningCache = nullptr);
/// Gradients of the weights.
POPLAR_EXPORT GruWeights gruWU(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                               const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates,
                               const poplar::Tensor& bwdIntermediates, const GruWeights& weights, const poplar::Tensor& input,
                               const poplar::Tensor& output, const poplar::DebugContext& debugContext = {},
                               const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT GruWeights auGruWU(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                                 const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates,
                                 const poplar::Tensor& bwdIntermediates, const GruWeights& weights, const poplar::Tensor& input,
                                 const poplar::Tensor& output, const poplar::DebugContext& debugContext = {},
                                 const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);
/// Both.
POPLAR_EXPORT poplar::Tensor gruBwdWithWU(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                                          const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates,
                                          const GruWeights& weights, const poplar::Tensor& input, const poplar::Tensor& output,
                                          const poplar::Tensor& outputGrad, poplar::Tensor* inputGrad, GruWeights& weightsGrad,
                                          const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                          poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor gruBwdWithWU(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                                          const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates,
                                          const GruWeights& weights, const poplar::Tensor& input, const poplar::Tensor& realTimeSteps,
                                          const poplar::Tensor& output, const poplar::Tensor& outputGrad, poplar::Tensor* inputGrad,
                                          GruWeights& weightsGrad, const poplar::DebugContext& debugContext = {},
                                          const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor auGruBwdWithWU(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                                            const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates,
                                            const GruWeights& weights, const poplar::Tensor& input, const poplar::Tensor& output,
                                            const poplar::Tensor& outputGrad, poplar::Tensor* inputGrad, GruWeights& weightsGrad,
                                            const poplar::Tensor& attentions, poplar::Tensor* attentionsGrad,
                                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                            poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor auGruBwdWithWU(poplar::Graph& graph, const GruParams& params, poplar::program::Sequence& prog,
                                            const poplar::Tensor& fwdOutputInit, const poplar::Tensor& fwdIntermediates,
                                            const GruWeights& weights, const poplar::Tensor& input, const poplar::Tensor& realTimeSteps,
                                            const poplar::Tensor& output, const poplar::Tensor& outputGrad, poplar::Tensor* inputGrad,
                                            GruWeights& weightsGrad, const poplar::Tensor& attentions, poplar::Tensor* attentionsGrad,
                                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                            poplin::PlanningCache* planningCache = nullptr);

}  // namespace gru
}  // namespace popnn

#endif
