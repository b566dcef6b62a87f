#ifndef popnn_Lstm_hpp
#define popnn_Lstm_hpp

#include <popnn/LstmDef.hpp>
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

/// Long short-term memory. With recurrent activation s and activation a, and * element by element:
///   f = s(x Wf + h Rf + bf)   i = s(...)   g = a(...)   o = s(...)      c' = f * c + i * g      h' = o * a(c')
///
/// With params.rnn.varTimeSteps so many steps of each sequence count. Behind them outputs are 0; without outputFullSequence the output is
/// that of each sequence's last step. The cell state behind them is 0, with preserveFinalState or one length for all sequences it is that
/// of the last step.
///
/// Options of matrix products are accepted and go to them; others of the original are accepted and have no effect. All throw
/// poputil::poplibs_error for shapes and types that do not fit the parameters.
namespace lstm {

POPLAR_EXPORT std::vector<BasicLstmCellUnit> getDefaultBasicLstmCellOrder();

struct LstmParams {
  rnn::RnnParams rnn;
  /// The output is {time steps, batch, size}; otherwise the last step's, {batch, size}.
  bool outputFullSequence = true;
  /// The gradient of the input is asked for.
  bool calcInputGradients = true;
  /// Sequences of different lengths: the last cell state is that of each one's last step.
  bool preserveFinalState = false;
  /// Where weights have the units.
  std::vector<BasicLstmCellUnit> cellOrder = getDefaultBasicLstmCellOrder();
  NonLinearityType activation = NonLinearityType::TANH;
  NonLinearityType recurrentActivation = NonLinearityType::SIGMOID;

  LstmParams() = default;
  LstmParams(poplar::Type dataType, std::size_t batchSize, std::size_t timeSteps, std::vector<std::size_t> layerSizes,
             NonLinearityType activation_ = NonLinearityType::TANH, NonLinearityType recurrentActivation_ = NonLinearityType::SIGMOID)
      : rnn(dataType, batchSize, timeSteps, std::move(layerSizes)), activation(activation_), recurrentActivation(recurrentActivation_) {}
  /// With sequences of different lengths: \p timeSteps is rnn.varTimeSteps.
  LstmParams(poplar::Type dataType, std::size_t batchSize, std::size_t maxTimeSteps, const poplar::Tensor& timeSteps,
             std::vector<std::size_t> layerSizes, NonLinearityType activation_ = NonLinearityType::TANH,
             NonLinearityType recurrentActivation_ = NonLinearityType::SIGMOID)
      : rnn(dataType, batchSize, maxTimeSteps, timeSteps, std::move(layerSizes)),
        activation(activation_),
        recurrentActivation(recurrentActivation_) {}
};

/// Multiplications and additions of products, sums and biases; not those of non-linearities. All three throw poputil::poplibs_error
/// unless there are two layer sizes.
POPLAR_EXPORT std::uint64_t getBasicLstmCellFwdFlops(const LstmParams& params);
POPLAR_EXPORT std::uint64_t getBasicLstmCellBwdFlops(const LstmParams& params);
POPLAR_EXPORT std::uint64_t getBasicLstmCellWuFlops(const LstmParams& params);

/// h and c: {batch, output size} each.
struct LstmState {
  poplar::Tensor output;
  poplar::Tensor cellState;
  /// {2, batch, output size}.
  poplar::Tensor getAsTensor() const { return concat(output.expand({0}), cellState.expand({0})); }
};

/// The gradient of the last state, made of what callers have: nothing, that of the cell state, or that of both, whose invalid tensors
/// count as 0. What it is made of must live as long.
struct StateGradient {
  const poplar::Tensor* output = nullptr;
  const poplar::Tensor* cellState = nullptr;

  StateGradient() = default;
  StateGradient(std::nullptr_t) {}
  StateGradient(const poplar::Tensor* ofCellState) : cellState(ofCellState) {}
  StateGradient(const LstmState* of) : output(of ? &of->output : nullptr), cellState(of ? &of->cellState : nullptr) {}
};

/// W {4, input size, output size}, R {4, output size, output size}, b {4, output size}.
/// The products that the layer takes, for preplanMatMuls: those of the forward pass and, without the option `inferenceOnly` as true, those
/// of the gradients. \p opts: those of the layer. Throws poputil::poplibs_error for parameters that no layer can have.
POPLAR_EXPORT std::vector<std::pair<poplin::MatMulParams, poplar::OptionFlags>> getMatMulPrePlanParameters(LstmParams params,
                                                                                                           poplar::OptionFlags opts);

struct LstmWeights {
  poplar::Tensor inputWeights;
  poplar::Tensor outputWeights;
  poplar::Tensor biases;
};

/// {time steps, batch, input size}.
POPLAR_EXPORT poplar::Tensor createInput(poplar::Graph& graph, const LstmParams& params, const poplar::DebugContext& debugContext,
                                         const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor createInitialOutput(poplar::Graph& graph, const LstmParams& params, const poplar::DebugContext& debugContext,
                                                 const poplar::OptionFlags& options = {}, poplin::PlanningCache* cache = nullptr);
POPLAR_EXPORT poplar::Tensor createInitialCellState(poplar::Graph& graph, const LstmParams& params,
                                                    const poplar::DebugContext& debugContext, const poplar::OptionFlags& options = {},
                                                    poplin::PlanningCache* cache = nullptr);
POPLAR_EXPORT LstmState createInitialState(poplar::Graph& graph, const LstmParams& params, const poplar::DebugContext& debugContext,
                                           const poplar::OptionFlags& options = {}, poplin::PlanningCache* cache = nullptr);
POPLAR_EXPORT void zeroInitialState(poplar::Graph& graph, const LstmState& initialState, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {});
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> createWeightsKernel(poplar::Graph& graph, const LstmParams& params,
                                                                            const poplar::DebugContext& debugContext,
                                                                            const poplar::OptionFlags& options = {},
                                                                            poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor createWeightsBiases(poplar::Graph& graph, const LstmParams& params, const poplar::DebugContext& debugContext,
                                                 const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT LstmWeights createWeights(poplar::Graph& graph, const LstmParams& params, const poplar::DebugContext& debugContext,
                                        const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);

/// The output, and the last cell state. \p intermediates, if not null, receives what the gradients need.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> lstmFwd(poplar::Graph& graph, const LstmParams& params, const LstmState& stateInit,
                                                                const poplar::Tensor& in, const LstmWeights& weights,
                                                                poplar::Tensor* intermediates, poplar::program::Sequence& fwdProg,
                                                                const poplar::DebugContext& debugContext = {},
                                                                const poplar::OptionFlags& options = {},
                                                                poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor lstmFwd(poplar::Graph& graph, const LstmParams& params, poplar::program::Sequence& prog,
                                     const LstmState& stateInit, const LstmWeights& weights, const poplar::Tensor& in,
                                     poplar::Tensor* intermediates, const poplar::DebugContext& debugContext = {},
                                     const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);

/// Gradients of the initial state, given those of the output (of the last step's alone, without outputFullSequence) and, besides, of the
/// last state: a null pointer, `const Tensor*` to that of the cell state, or `const LstmState*`. \p inputGrad and \p bwdIntermediates may
/// be null.
POPLAR_EXPORT LstmState lstmBwd(poplar::Graph& graph, const LstmParams& params, poplar::program::Sequence& prog,
                                const LstmState& fwdStateInit, const poplar::Tensor& fwdIntermediates, const LstmWeights& weights,
                                const poplar::Tensor& input, const poplar::Tensor& output, const poplar::Tensor& outputGrad,
                                const StateGradient& lastStateGrad, poplar::Tensor* inputGrad, poplar::Tensor* bwdIntermediates,
                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                poplin::PlanningCache* planningCache = nullptr);
/// Gradients of the weights.
POPLAR_EXPORT LstmWeights lstmWU(poplar::Graph& graph, const LstmParams& params, poplar::program::Sequence& prog,
                                 const LstmState& fwdStateInit, const poplar::Tensor& fwdIntermediates,
                                 const poplar::Tensor& bwdIntermediates, const LstmWeights& weights, const poplar::Tensor& input,
                                 const poplar::Tensor& output, const poplar::DebugContext& debugContext = {},
                                 const poplar::OptionFlags& options = {}, poplin::PlanningCache* planningCache = nullptr);
/// Both.
POPLAR_EXPORT LstmState lstmBwdWithWU(poplar::Graph& graph, const LstmParams& params, poplar::program::Sequence& prog,
                                      const LstmState& fwdStateInit, const poplar::Tensor& fwdIntermediates, const LstmWeights& weights,
                                      const poplar::Tensor& input, const poplar::Tensor& output, const poplar::Tensor& outputGrad,
                                      const StateGradient& lastStateGrad, poplar::Tensor* inputGrad, LstmWeights& weightsGrad,
                                      const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {},
                                      poplin::PlanningCache* planningCache = nullptr);

}  // namespace lstm
}  // namespace popnn

#endif
