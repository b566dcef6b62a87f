#ifndef popnn_Recurrent_hpp
#define popnn_Recurrent_hpp

#include <popnn/NonLinearity.hpp>

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poplin/MatMul.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace popnn {

/// Plain recurrent layers. With non-linearity a, x the input of a step and h the output of the step before:   h' = a(x W + h R + b)
///
/// Shapes: a sequence {time steps, batch, size}, W {input size, output size}, R {output size, output size}, b {output size}, a state
/// {batch, output size}. Data are FLOAT or HALF; \p partialsType is that of matrix products. `inferenceOnly` has no effect. All throw
/// poputil::poplibs_error for shapes and types that do not fit each other.
namespace rnn {

/// The products that a layer takes, for preplanMatMuls: those of the forward pass; unless \p inferenceOnly, those of the gradients, too.
POPLAR_EXPORT std::vector<std::pair<poplin::MatMulParams, poplar::OptionFlags>> getMatMulPrePlanParameters(
    std::size_t numSteps, std::size_t batchSize, std::size_t inputSize, std::size_t outputSize, const poplar::Type& dType,
    const poplar::Type& partialsType = poplar::FLOAT, bool inferenceOnly = false, bool hasFeedforwardWeights = true);

/// Multiplications and additions of products, sums and biases; not those of non-linearities.
POPLAR_EXPORT std::uint64_t getFwdFlops(unsigned sequenceSize, unsigned batchSize, unsigned inputSize, unsigned outputSize,
                                        bool weightInput = true);
POPLAR_EXPORT std::uint64_t getBwdFlops(unsigned sequenceSize, unsigned batchSize, unsigned inputSize, unsigned outputSize,
                                        bool calcInputGrad = true);
POPLAR_EXPORT std::uint64_t getWuFlops(unsigned sequenceSize, unsigned batchSize, unsigned inputSize, unsigned outputSize);

/// A variable for the input, {numSteps, batchSize, inputSize}.
POPLAR_EXPORT poplar::Tensor createInput(poplar::Graph& graph, unsigned numSteps, unsigned batchSize, unsigned inputSize,
                                         unsigned outputSize, const poplar::Type& dType, const poplar::Type& partialsType = poplar::FLOAT,
                                         bool inferenceOnly = false, const poplar::DebugContext& debugContext = {},
                                         poplin::PlanningCache* planningCache = nullptr);
/// A variable for the state before the first step; with \p initState, \p prog sets it to 0.
POPLAR_EXPORT poplar::Tensor createFwdState(poplar::Graph& graph, const poplar::Type& dType, unsigned batchSize, unsigned outputSize,
                                            poplar::program::Sequence& prog, bool initState, bool inferenceOnly,
                                            const poplar::DebugContext& debugContext = {}, poplin::PlanningCache* planningCache = nullptr);
/// The output that is in a state: all of it.
POPLAR_EXPORT poplar::Tensor getOutputFromFwdState(const poplar::Tensor& fwdState);
/// A variable for W.
POPLAR_EXPORT poplar::Tensor createWeightsInput(poplar::Graph& graph, unsigned sequenceSize, unsigned batchSize, unsigned inputSize,
                                                unsigned outputSize, const poplar::Type& dType,
                                                const poplar::Type& partialsType = poplar::FLOAT, bool inferenceOnly = false,
                                                const poplar::DebugContext& debugContext = {},
                                                poplin::PlanningCache* planningCache = nullptr);
/// A variable for R.
POPLAR_EXPORT poplar::Tensor createWeightsFeedback(poplar::Graph& graph, unsigned batchSize, unsigned outputSize, const poplar::Type& dType,
                                                   const poplar::Type& partialsType = poplar::FLOAT, bool inferenceOnly = false,
                                                   const poplar::DebugContext& debugContext = {},
                                                   poplin::PlanningCache* planningCache = nullptr);

/// x W of all steps: {steps, batch, output size}.
POPLAR_EXPORT poplar::Tensor forwardWeightInput(poplar::Graph& graph, const poplar::Tensor& actIn, const poplar::Tensor& weights,
                                                poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
                                                bool inferenceOnly = false, const poplar::DebugContext& debugContext = {},
                                                poplin::PlanningCache* planningCache = nullptr);
/// The outputs of all steps, {steps, batch, output size}, given x W of each in \p feedFwdIn.
POPLAR_EXPORT poplar::Tensor forwardIterate(poplar::Graph& graph, const poplar::Tensor& feedFwdIn, const poplar::Tensor& initState,
                                            const poplar::Tensor& feedbackWeights, const poplar::Tensor& biases,
                                            poplar::program::Sequence& prog, NonLinearityType nonLinearityType,
                                            const poplar::Type& partialsType = poplar::FLOAT, bool inferenceOnly = false,
                                            const poplar::DebugContext& debugContext = {}, poplin::PlanningCache* planningCache = nullptr);

/// A variable for the gradient behind the last step's sums; \p prog sets it to 0.
POPLAR_EXPORT poplar::Tensor createBwdState(poplar::Graph& graph, const poplar::Type& dType, unsigned batchSize, unsigned outputSize,
                                            poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                            poplin::PlanningCache* planningCache = nullptr);
/// One step of the backward pass, from the last to the first. \p nextLayerGrad: of the step's output; \p bwdState: what the step after it
/// returned; \p actOut: the step's output. Returns the gradient of the step's input, and of the sum in front of the non-linearity: the
/// state for the step before. The second form leaves the input's out.
POPLAR_EXPORT std::pair<poplar::Tensor, poplar::Tensor> backwardGradientStep(
    poplar::Graph& graph, const poplar::Tensor& nextLayerGrad, const poplar::Tensor& bwdState, const poplar::Tensor& actOut,
    const poplar::Tensor& weightsInput, const poplar::Tensor& weightsFeedback, poplar::program::Sequence& prog,
    NonLinearityType nonLinearityType, const poplar::Type& partialsType = poplar::FLOAT, const poplar::DebugContext& debugContext = {},
    poplin::PlanningCache* planningCache = nullptr);
POPLAR_EXPORT poplar::Tensor backwardGradientStep(poplar::Graph& graph, const poplar::Tensor& nextLayerGrad, const poplar::Tensor& bwdState,
                                                  const poplar::Tensor& actOut, const poplar::Tensor& weightsFeedback,
                                                  poplar::program::Sequence& prog, NonLinearityType nonLinearityType,
                                                  const poplar::Type& partialsType = poplar::FLOAT,
                                                  const poplar::DebugContext& debugContext = {},
                                                  poplin::PlanningCache* planningCache = nullptr);
/// Adds a step's gradients of the parameters to the three accumulators. \p bwdState: what the step's backward pass returned; \p actIn: its
/// input; \p prevOut: the state before it.
POPLAR_EXPORT void paramDeltaUpdate(poplar::Graph& graph, const poplar::Tensor& bwdState, const poplar::Tensor& actIn,
                                    const poplar::Tensor& prevOut, poplar::Tensor& weightsInputDeltasAcc,
                                    poplar::Tensor& weightsFeedbackDeltasAcc, poplar::Tensor& biasDeltasAcc,
                                    poplar::program::Sequence& prog, const poplar::Type& partialsType = poplar::FLOAT,
                                    const poplar::DebugContext& debugContext = {}, poplin::PlanningCache* planningCache = nullptr);

/// The outputs of all steps. \p weightedIn: x W of all steps; if it is null, that is computed of \p prevLayerActs and \p feedFwdWeights.
POPLAR_EXPORT poplar::Tensor rnnFwdSequence(poplar::Graph& graph, poplar::program::Sequence& prog, const poplar::Tensor& fwdStateInit,
                                            const poplar::Tensor* weightedIn, const poplar::Tensor& biases,
                                            const poplar::Tensor& feedFwdWeights, const poplar::Tensor& feedbackWeights,
                                            const poplar::Tensor& prevLayerActs, const NonLinearityType& nonLinearityType,
                                            const poplar::Type& partialsType, bool inferenceOnly,
                                            const poplar::DebugContext& debugContext = {}, poplin::PlanningCache* planningCache = nullptr);
/// Gradients of the input, of W, of R and of b, given the outputs \p fwdState of all steps and their gradients. With
/// \p ignoreInputGradientCalc the first is not computed, without \p doWU the other three are not: those are invalid tensors.
POPLAR_EXPORT std::tuple<poplar::Tensor, poplar::Tensor, poplar::Tensor, poplar::Tensor> rnnBwdSequence(
    poplar::Graph& graph, bool doWU, bool ignoreInputGradientCalc, poplar::program::Sequence& prog, const poplar::Tensor& fwdStateInit,
    const poplar::Tensor& fwdState, const poplar::Tensor& biases, const poplar::Tensor& feedFwdWeights,
    const poplar::Tensor& feedbackWeights, const poplar::Tensor& outGradient, const poplar::Tensor& actIn,
    const NonLinearityType& nonLinearityType, const poplar::Type& partialsType, const poplar::DebugContext& debugContext = {},
    poplin::PlanningCache* planningCache = nullptr);

}  // namespace rnn
}  // namespace popnn

#endif
