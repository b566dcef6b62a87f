#include "poplibs/poputil/reject.h"
#include "popnn/Recurrent.hpp"

#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/Zero.hpp>

#include "steps.h"

namespace popnn::rnn {

using namespace poplar;
using internal::Layer;
using program::Sequence;
namespace pe = popops::expr;

namespace {

OptionFlags options_of(const Type& partials) {
  if (partials != FLOAT && partials != HALF)
    poputil::reject("layer-parameters", "popnn::rnn: partials of type {}; expected float or half", partials.toString());
  return {{"partialsType", partials.toString()}};
}

// A layer whose sizes are known from its tensors. Sizes that a function has no use for are 1.
struct Cell {
  RnnParams params;
  Layer layer;

  Cell(Graph& graph, RnnParams sizes, const Type& partials, const DebugContext& context, poplin::PlanningCache* cache, const char* where)
      : params(std::move(sizes)), layer(graph, params, context, options_of(partials), cache, where) {}
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  const Layer* operator->() const { return &layer; }
};

// A tensor that sizes are taken from.
const Tensor& of_rank(const Tensor& t, std::size_t rank, const char* where, const char* what) {
  if (!t.valid() || t.rank() != rank)
    poputil::reject("operand", "{}: {} is {}; expected {} dimensions", where, what,
                    t.valid() ? "of shape " + t.shapeToString() : std::string("an invalid tensor"), rank);
  return t;
}

// Of a sequence, and the output size.
RnnParams sizes_of(const Tensor& sequence, std::size_t inputs, std::size_t outputs) {
  return {sequence.elementType(), sequence.dim(1), sequence.dim(0), {inputs, outputs}};
}

Tensor weighted(const Layer& l, const Tensor& in, const Tensor& weights, Sequence& prog) {
  l.check(in, {l.steps(), l.batch(), l.inputs()}, "the input");
  l.check(weights, {l.inputs(), l.outputs()}, "the input weights");
  return l.product(in.flatten(0, 2), weights, prog, "inputs").reshape({l.steps(), l.batch(), l.outputs()});
}

// What the sum in front of the non-linearity gets from the step's output and from the sum of the step after it.
Tensor sum_gradient(const Layer& l, const Tensor& gradient, const Tensor& next, const Tensor& output, const Tensor& feedback,
                    NonLinearityType type, Sequence& prog) {
  const Tensor of_output = l.product(next, feedback.transpose(), prog, "stateGradient");
  popops::addInPlace(l.graph, of_output, gradient, prog, {l.debug, "outputGradient"});
  return l.activation_gradient(type, output, of_output, prog);
}

Tensor step_back(const Layer& l, const Tensor& gradient, const Tensor& next, const Tensor& output, const Tensor& feedback,
                 NonLinearityType type, Sequence& prog) {
  const std::vector<std::size_t> state = {l.batch(), l.outputs()};
  l.check(gradient, state, "the output's gradient");
  l.check(next, state, "the backward state");
  l.check(output, state, "the output");
  l.check(feedback, {l.outputs(), l.outputs()}, "the feedback weights");
  return sum_gradient(l, gradient, next, output, feedback, type, prog);
}

RnnParams sizes_of_step(const Tensor& state, std::size_t inputs) { return {state.elementType(), state.dim(0), 1, {inputs, state.dim(1)}}; }

std::uint64_t product_flops(std::uint64_t m, std::uint64_t k, std::uint64_t n) { return 2 * m * k * n; }

}  // namespace

std::vector<std::pair<poplin::MatMulParams, OptionFlags>> getMatMulPrePlanParameters(std::size_t numSteps, std::size_t batchSize,
                                                                                     std::size_t inputSize, std::size_t outputSize,
                                                                                     const Type& dType, const Type& partialsType,
                                                                                     bool inferenceOnly, bool hasFeedforwardWeights) {
  std::vector<std::pair<poplin::MatMulParams, OptionFlags>> products;
  const OptionFlags options = options_of(partialsType);
  const auto add = [&](std::size_t m, std::size_t k, std::size_t n) {
    products.emplace_back(poplin::MatMulParams{dType, dType, {1, m, k}, {1, k, n}}, options);
  };
  const std::size_t rows = numSteps * batchSize;
  if (hasFeedforwardWeights) add(rows, inputSize, outputSize);
  add(batchSize, outputSize, outputSize);
  if (inferenceOnly) return products;
  if (hasFeedforwardWeights) {
    add(rows, outputSize, inputSize);
    add(inputSize, rows, outputSize);
  }
  add(outputSize, rows, outputSize);
  return products;
}

std::uint64_t getFwdFlops(unsigned sequenceSize, unsigned batchSize, unsigned inputSize, unsigned outputSize, bool weightInput) {
  const std::uint64_t rows = std::uint64_t{sequenceSize} * batchSize;
  return (weightInput ? product_flops(rows, inputSize, outputSize) : 0) + product_flops(rows, outputSize, outputSize) +
         2 * rows * outputSize;
}
std::uint64_t getBwdFlops(unsigned sequenceSize, unsigned batchSize, unsigned inputSize, unsigned outputSize, bool calcInputGrad) {
  const std::uint64_t rows = std::uint64_t{sequenceSize} * batchSize;
  return (calcInputGrad ? product_flops(rows, outputSize, inputSize) : 0) + product_flops(rows, outputSize, outputSize) + rows * outputSize;
}
std::uint64_t getWuFlops(unsigned sequenceSize, unsigned batchSize, unsigned inputSize, unsigned outputSize) {
  const std::uint64_t rows = std::uint64_t{sequenceSize} * batchSize;
  return product_flops(inputSize, rows, outputSize) + product_flops(outputSize, rows, outputSize) + rows * outputSize;
}

Tensor createInput(Graph& graph, unsigned numSteps, unsigned batchSize, unsigned inputSize, unsigned outputSize, const Type& dType,
                   const Type& partialsType, bool, const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  const Cell l(graph, {dType, batchSize, numSteps, {inputSize, outputSize}}, partialsType, {debugContext, "rnn"}, planningCache,
               "popnn::rnn::createInput");
  return poplin::createMatMulInputLHS(graph, dType, {l->steps() * l->batch(), l->inputs()}, {l->inputs(), l->outputs()},
                                      {l->debug, "input"}, l->products, planningCache)
      .reshape({l->steps(), l->batch(), l->inputs()});
}

Tensor createFwdState(Graph& graph, const Type& dType, unsigned batchSize, unsigned outputSize, Sequence& prog, bool initState, bool,
                      const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  const Cell l(graph, {dType, batchSize, 1, {1, outputSize}}, FLOAT, {debugContext, "rnn"}, planningCache, "popnn::rnn::createFwdState");
  const Tensor state = l->state("state");
  if (initState) popops::zero(graph, state, prog, {l->debug, "state"});
  return state;
}

Tensor getOutputFromFwdState(const Tensor& fwdState) { return fwdState; }

Tensor createWeightsInput(Graph& graph, unsigned sequenceSize, unsigned batchSize, unsigned inputSize, unsigned outputSize,
                          const Type& dType, const Type& partialsType, bool, const DebugContext& debugContext,
                          poplin::PlanningCache* planningCache) {
  const Cell l(graph, {dType, batchSize, sequenceSize, {inputSize, outputSize}}, partialsType, {debugContext, "rnn"}, planningCache,
               "popnn::rnn::createWeightsInput");
  return poplin::createMatMulInputRHS(graph, dType, {l->steps() * l->batch(), l->inputs()}, {l->inputs(), l->outputs()},
                                      {l->debug, "inputWeights"}, l->products, planningCache);
}

Tensor createWeightsFeedback(Graph& graph, unsigned batchSize, unsigned outputSize, const Type& dType, const Type& partialsType, bool,
                             const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  const Cell l(graph, {dType, batchSize, 1, {1, outputSize}}, partialsType, {debugContext, "rnn"}, planningCache,
               "popnn::rnn::createWeightsFeedback");
  return poplin::createMatMulInputRHS(graph, dType, {l->batch(), l->outputs()}, {l->outputs(), l->outputs()}, {l->debug, "feedbackWeights"},
                                      l->products, planningCache);
}

Tensor forwardWeightInput(Graph& graph, const Tensor& actIn, const Tensor& weights, Sequence& prog, const Type& partialsType, bool,
                          const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  const char* where = "popnn::rnn::forwardWeightInput";
  of_rank(actIn, 3, where, "the input");
  of_rank(weights, 2, where, "the input weights");
  const Cell l(graph, sizes_of(actIn, weights.dim(0), weights.dim(1)), partialsType, {debugContext, "rnn"}, planningCache, where);
  return weighted(l.layer, actIn, weights, prog);
}

Tensor forwardIterate(Graph& graph, const Tensor& feedFwdIn, const Tensor& initState, const Tensor& feedbackWeights, const Tensor& biases,
                      Sequence& prog, NonLinearityType nonLinearityType, const Type& partialsType, bool, const DebugContext& debugContext,
                      poplin::PlanningCache* planningCache) {
  const char* where = "popnn::rnn::forwardIterate";
  of_rank(feedFwdIn, 3, where, "the weighted input");
  const Cell l(graph, sizes_of(feedFwdIn, 1, feedFwdIn.dim(2)), partialsType, {debugContext, "rnn"}, planningCache, where);
  l->check(initState, {l->batch(), l->outputs()}, "the initial state");
  l->check(feedbackWeights, {l->outputs(), l->outputs()}, "the feedback weights");
  l->check(biases, {l->outputs()}, "the biases");
  const Tensor h = l->copy_of(initState, prog, "state"), outputs = l->sequence({l->batch(), l->outputs()}, "outputs");
  l->loop(
      Layer::Order::forward, prog,
      [&](const Tensor& step, Sequence& round) {
        const Tensor sums = l->product(h, feedbackWeights, round, "state");
        popops::mapInPlace(graph, pe::_1 + pe::_2 + pe::_3, {sums, l->get(feedFwdIn, step, round, "inputs"), biases}, round,
                           {l->debug, "sums"});
        round.add(program::Copy(l->activated(nonLinearityType, sums, round), h, false, {l->debug, "state"}));
        l->put(outputs, h, step, round, "outputs");
      },
      "steps");
  return outputs;
}

Tensor createBwdState(Graph& graph, const Type& dType, unsigned batchSize, unsigned outputSize, Sequence& prog,
                      const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  return createFwdState(graph, dType, batchSize, outputSize, prog, true, false, debugContext, planningCache);
}

std::pair<Tensor, Tensor> backwardGradientStep(Graph& graph, const Tensor& nextLayerGrad, const Tensor& bwdState, const Tensor& actOut,
                                               const Tensor& weightsInput, const Tensor& weightsFeedback, Sequence& prog,
                                               NonLinearityType nonLinearityType, const Type& partialsType,
                                               const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  const char* where = "popnn::rnn::backwardGradientStep";
  of_rank(bwdState, 2, where, "the backward state");
  of_rank(weightsInput, 2, where, "the input weights");
  const Cell l(graph, sizes_of_step(bwdState, weightsInput.dim(0)), partialsType, {debugContext, "rnn"}, planningCache, where);
  l->check(weightsInput, {l->inputs(), l->outputs()}, "the input weights");
  const Tensor state = step_back(l.layer, nextLayerGrad, bwdState, actOut, weightsFeedback, nonLinearityType, prog);
  return {l->product(state, weightsInput.transpose(), prog, "inputGradient"), state};
}

Tensor backwardGradientStep(Graph& graph, const Tensor& nextLayerGrad, const Tensor& bwdState, const Tensor& actOut,
                            const Tensor& weightsFeedback, Sequence& prog, NonLinearityType nonLinearityType, const Type& partialsType,
                            const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  const char* where = "popnn::rnn::backwardGradientStep";
  of_rank(bwdState, 2, where, "the backward state");
  const Cell l(graph, sizes_of_step(bwdState, 1), partialsType, {debugContext, "rnn"}, planningCache, where);
  return step_back(l.layer, nextLayerGrad, bwdState, actOut, weightsFeedback, nonLinearityType, prog);
}

void paramDeltaUpdate(Graph& graph, const Tensor& bwdState, const Tensor& actIn, const Tensor& prevOut, Tensor& weightsInputDeltasAcc,
                      Tensor& weightsFeedbackDeltasAcc, Tensor& biasDeltasAcc, Sequence& prog, const Type& partialsType,
                      const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  const char* where = "popnn::rnn::paramDeltaUpdate";
  of_rank(bwdState, 2, where, "the backward state");
  of_rank(actIn, 2, where, "the input");
  const Cell l(graph, sizes_of_step(bwdState, actIn.dim(1)), partialsType, {debugContext, "rnn"}, planningCache, where);
  l->check(actIn, {l->batch(), l->inputs()}, "the input");
  l->check(prevOut, {l->batch(), l->outputs()}, "the state before");
  l->check(weightsInputDeltasAcc, {l->inputs(), l->outputs()}, "the input weights' accumulator");
  l->check(weightsFeedbackDeltasAcc, {l->outputs(), l->outputs()}, "the feedback weights' accumulator");
  l->check(biasDeltasAcc, {l->outputs()}, "the biases' accumulator");
  poplin::matMulAcc(graph, weightsInputDeltasAcc, 1.0f, actIn.transpose(), bwdState, prog, {l->debug, "inputWeightsGradient"}, l->products,
                    planningCache);
  poplin::matMulAcc(graph, weightsFeedbackDeltasAcc, 1.0f, prevOut.transpose(), bwdState, prog, {l->debug, "feedbackWeightsGradient"},
                    l->products, planningCache);
  popops::reduceWithOutput(graph, bwdState, biasDeltasAcc, {0}, {popops::Operation::ADD, true}, prog, {l->debug, "biasesGradient"});
}

Tensor rnnFwdSequence(Graph& graph, Sequence& prog, const Tensor& fwdStateInit, const Tensor* weightedIn, const Tensor& biases,
                      const Tensor& feedFwdWeights, const Tensor& feedbackWeights, const Tensor& prevLayerActs,
                      const NonLinearityType& nonLinearityType, const Type& partialsType, bool inferenceOnly,
                      const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  const Tensor in =
      weightedIn ? *weightedIn
                 : forwardWeightInput(graph, prevLayerActs, feedFwdWeights, prog, partialsType, inferenceOnly, debugContext, planningCache);
  return forwardIterate(graph, in, fwdStateInit, feedbackWeights, biases, prog, nonLinearityType, partialsType, inferenceOnly, debugContext,
                        planningCache);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> rnnBwdSequence(Graph& graph, bool doWU, bool ignoreInputGradientCalc, Sequence& prog,
                                                          const Tensor& fwdStateInit, const Tensor& fwdState, const Tensor& biases,
                                                          const Tensor& feedFwdWeights, const Tensor& feedbackWeights,
                                                          const Tensor& outGradient, const Tensor& actIn,
                                                          const NonLinearityType& nonLinearityType, const Type& partialsType,
                                                          const DebugContext& debugContext, poplin::PlanningCache* planningCache) {
  const char* where = "popnn::rnn::rnnBwdSequence";
  of_rank(fwdState, 3, where, "the output");
  const bool of_input = doWU || !ignoreInputGradientCalc;
  const std::size_t inputs = of_input ? of_rank(actIn, 3, where, "the input").dim(2) : 1;
  const Cell l(graph, sizes_of(fwdState, inputs, fwdState.dim(2)), partialsType, {debugContext, "rnn"}, planningCache, where);
  l->check(fwdStateInit, {l->batch(), l->outputs()}, "the initial state");
  l->check(outGradient, fwdState.shape(), "the output's gradient");
  l->check(feedbackWeights, {l->outputs(), l->outputs()}, "the feedback weights");
  l->check(biases, {l->outputs()}, "the biases");
  if (doWU) l->check(actIn, {l->steps(), l->batch(), l->inputs()}, "the input");
  if (!ignoreInputGradientCalc) l->check(feedFwdWeights, {l->inputs(), l->outputs()}, "the input weights");
  const Tensor next = l->zeros_like(fwdStateInit, prog, "state"), sums = l->sequence({l->batch(), l->outputs()}, "sums");
  // Steps from the last to the first: of reversed sequences.
  l->loop(
      Layer::Order::backward, prog,
      [&](const Tensor& step, Sequence& round) {
        const Tensor gradient = sum_gradient(l.layer, l->get(outGradient.reverse(0), step, round, "outputGradient"), next,
                                             l->get(fwdState.reverse(0), step, round, "output"), feedbackWeights, nonLinearityType, round);
        l->put(sums.reverse(0), gradient, step, round, "sums");
        round.add(program::Copy(gradient, next, false, {l->debug, "state"}));
      },
      "steps");
  Tensor input_gradient, of_weights, of_feedback, of_biases;
  if (!ignoreInputGradientCalc)
    input_gradient =
        l->product(sums.flatten(0, 2), feedFwdWeights.transpose(), prog, "inputGradient").reshape({l->steps(), l->batch(), l->inputs()});
  if (doWU) {
    const Tensor unit = sums.expand({2});
    of_weights = internal::weights_gradient(l.layer, actIn, unit, prog, "inputWeightsGradient")[0];
    of_feedback =
        internal::weights_gradient(l.layer, internal::states_before(fwdStateInit, fwdState), unit, prog, "feedbackWeightsGradient")[0];
    of_biases = internal::biases_gradient(l.layer, unit, prog)[0];
  }
  return {input_gradient, of_weights, of_feedback, of_biases};
}

}  // namespace popnn::rnn
