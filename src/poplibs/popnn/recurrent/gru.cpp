#include "popnn/Gru.hpp"

#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include "gru_steps.h"

namespace popnn::gru {

using namespace poplar;
using internal::Layer;
using program::Sequence;
using Unit = BasicGruCellUnit;

std::vector<Unit> getDefaultBasicGruCellOrder() {
  return {BASIC_GRU_CELL_RESET_GATE, BASIC_GRU_CELL_UPDATE_GATE, BASIC_GRU_CELL_CANDIDATE};
}

Tensor createInput(Graph& graph, const GruParams& params, const DebugContext& debugContext, const OptionFlags& options,
                   poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gru"}, options, planningCache, "popnn::gru::createInput");
  return poplin::createMatMulInputLHS(graph, params.rnn.dataType, {l.steps() * l.batch(), l.inputs()},
                                      {l.inputs(), kGruUnits * l.outputs()}, {l.debug, "input"}, l.products, planningCache)
      .reshape({l.steps(), l.batch(), l.inputs()});
}

Tensor createInitialState(Graph& graph, const GruParams& params, const DebugContext& debugContext, const OptionFlags& options,
                          poplin::PlanningCache* cache) {
  return Layer(graph, params.rnn, {debugContext, "gru"}, options, cache, "popnn::gru::createInitialState").state("initialState");
}

std::pair<Tensor, Tensor> createWeightsKernel(Graph& graph, const GruParams& params, const DebugContext& debugContext,
                                              const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gru"}, options, planningCache, "popnn::gru::createWeights");
  const std::size_t columns = kGruUnits * l.outputs();
  const auto matrix = [&](std::size_t rows, std::size_t height, const char* name) {
    return internal::by_unit(poplin::createMatMulInputRHS(graph, params.rnn.dataType, {height, rows}, {rows, columns}, {l.debug, name},
                                                          l.products, planningCache),
                             kGruUnits);
  };
  return {matrix(l.inputs(), l.steps() * l.batch(), "inputWeights"), matrix(l.outputs(), l.batch(), "outputWeights")};
}

Tensor createWeightsBiases(Graph& graph, const GruParams& params, const DebugContext& debugContext, const OptionFlags& options,
                           poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gru"}, options, planningCache, "popnn::gru::createWeightsBiases");
  std::vector<std::size_t> shape = {kGruUnits, l.outputs()};
  if (params.resetAfter) shape.insert(shape.begin() + 1, 2);
  const Tensor t = graph.addVariable(params.rnn.dataType, shape, {l.debug, "biases"});
  poputil::mapTensorLinearly(graph, t);
  return t;
}

GruWeights createWeights(Graph& graph, const GruParams& params, const DebugContext& debugContext, const OptionFlags& options,
                         poplin::PlanningCache* planningCache) {
  const auto [input, output] = createWeightsKernel(graph, params, debugContext, options, planningCache);
  return {input, output, createWeightsBiases(graph, params, debugContext, options, planningCache)};
}

Tensor createAttention(Graph& graph, const GruParams& params, const DebugContext& debugContext, const OptionFlags& options) {
  const Layer l(graph, params.rnn, {debugContext, "gru"}, options, nullptr, "popnn::gru::createAttention");
  return l.sequence({l.batch()}, "attention").transpose();
}

Tensor gruFwd(Graph& graph, const GruParams& params, const Tensor& stateInit, const Tensor& in, const GruWeights& weights,
              Tensor* intermediates, Sequence& prog, const DebugContext& debugContext, const OptionFlags& options,
              poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruFwd"}, options, planningCache, "popnn::gru::gruFwd");
  return forward(l, params, stateInit, in, weights, {}, intermediates, prog);
}

Tensor gruFwd(Graph& graph, const GruParams& params, const Tensor& stateInit, const Tensor& in, const Tensor& realTimeSteps,
              const GruWeights& weights, Tensor* intermediates, Sequence& prog, const DebugContext& debugContext,
              const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruFwd"}, options, planningCache, "popnn::gru::gruFwd");
  return forward(l, params, stateInit, in, weights, {nullptr, &realTimeSteps}, intermediates, prog);
}

Tensor auGruFwd(Graph& graph, const GruParams& params, const Tensor& stateInit, const Tensor& in, const GruWeights& weights,
                Tensor* intermediates, const Tensor& attScores, Sequence& prog, const DebugContext& debugContext,
                const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "auGruFwd"}, options, planningCache, "popnn::gru::auGruFwd");
  return forward(l, params, stateInit, in, weights, {&attScores, nullptr}, intermediates, prog);
}

Tensor auGruFwd(Graph& graph, const GruParams& params, const Tensor& stateInit, const Tensor& in, const Tensor& realTimeSteps,
                const GruWeights& weights, Tensor* intermediates, const Tensor& attScores, Sequence& prog, const DebugContext& debugContext,
                const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "auGruFwd"}, options, planningCache, "popnn::gru::auGruFwd");
  return forward(l, params, stateInit, in, weights, {&attScores, &realTimeSteps}, intermediates, prog);
}

namespace {

// A backward pass and what callers want of it.
struct Backward {
  const Layer& layer;
  const GruParams& params;
  const Tensor &state, &intermediates;
  const GruWeights& weights;
  const Tensor &in, &output_gradient;
  Extras extras;

  Tensor run(Sequence& prog, Tensor* in_gradient, Tensor* between, Tensor* attention_gradient) const {
    const Gradients out = backward(layer, params, state, intermediates, weights, in, output_gradient, extras, in_gradient, prog);
    if (between) *between = out.units;
    if (attention_gradient) *attention_gradient = out.attention;
    return out.state;
  }
  Tensor run_with_update(Sequence& prog, Tensor* in_gradient, GruWeights& weights_gradient, Tensor* attention_gradient) const {
    Tensor between;
    const Tensor of_state = run(prog, in_gradient, &between, attention_gradient);
    weights_gradient = update(layer, params, state, intermediates, between, weights, in, prog);
    return of_state;
  }
};

}  // namespace

Tensor gruBwd(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
              const GruWeights& weights, const Tensor& fwdInputSeq, const Tensor&, const Tensor& gradLayerNext, Tensor* inputGrad,
              Tensor* bwdIntermediates, const DebugContext& debugContext, const OptionFlags& options,
              poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruBwd"}, options, planningCache, "popnn::gru::gruBwd");
  return Backward{l, params, fwdOutputInit, fwdIntermediates, weights, fwdInputSeq, gradLayerNext, {}}.run(prog, inputGrad,
                                                                                                           bwdIntermediates, nullptr);
}

Tensor gruBwd(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
              const GruWeights& weights, const Tensor& fwdInputSeq, const Tensor& realTimeSteps, const Tensor&, const Tensor& gradLayerNext,
              Tensor* inputGrad, Tensor* bwdIntermediates, const DebugContext& debugContext, const OptionFlags& options,
              poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruBwd"}, options, planningCache, "popnn::gru::gruBwd");
  return Backward{l, params, fwdOutputInit, fwdIntermediates, weights, fwdInputSeq, gradLayerNext, {nullptr, &realTimeSteps}}.run(
      prog, inputGrad, bwdIntermediates, nullptr);
}

Tensor auGruBwd(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                const GruWeights& weights, const Tensor& fwdInputSeq, const Tensor&, const Tensor& gradLayerNext, Tensor* inputGrad,
                Tensor* bwdIntermediates, const Tensor& attentions, Tensor* attentionsGrad, const DebugContext& debugContext,
                const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "auGruBwd"}, options, planningCache, "popnn::gru::auGruBwd");
  return Backward{l, params, fwdOutputInit, fwdIntermediates, weights, fwdInputSeq, gradLayerNext, {&attentions, nullptr}}.run(
      prog, inputGrad, bwdIntermediates, attentionsGrad);
}

Tensor auGruBwd(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                const GruWeights& weights, const Tensor& fwdInputSeq, const Tensor& realTimeSteps, const Tensor&,
                const Tensor& gradLayerNext, Tensor* inputGrad, Tensor* bwdIntermediates, const Tensor& attentions, Tensor* attentionsGrad,
                const DebugContext& debugContext, const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "auGruBwd"}, options, planningCache, "popnn::gru::auGruBwd");
  return Backward{l, params, fwdOutputInit, fwdIntermediates, weights, fwdInputSeq, gradLayerNext, {&attentions, &realTimeSteps}}.run(
      prog, inputGrad, bwdIntermediates, attentionsGrad);
}

GruWeights gruWU(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                 const Tensor& bwdIntermediates, const GruWeights& weights, const Tensor& input, const Tensor&,
                 const DebugContext& debugContext, const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruWU"}, options, planningCache, "popnn::gru::gruWU");
  return update(l, params, fwdOutputInit, fwdIntermediates, bwdIntermediates, weights, input, prog);
}

GruWeights auGruWU(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                   const Tensor& bwdIntermediates, const GruWeights& weights, const Tensor& input, const Tensor&,
                   const DebugContext& debugContext, const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "auGruWU"}, options, planningCache, "popnn::gru::auGruWU");
  return update(l, params, fwdOutputInit, fwdIntermediates, bwdIntermediates, weights, input, prog);
}

Tensor gruBwdWithWU(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                    const GruWeights& weights, const Tensor& input, const Tensor&, const Tensor& outputGrad, Tensor* inputGrad,
                    GruWeights& weightsGrad, const DebugContext& debugContext, const OptionFlags& options,
                    poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruBwdWithWU"}, options, planningCache, "popnn::gru::gruBwdWithWU");
  return Backward{l, params, fwdOutputInit, fwdIntermediates, weights, input, outputGrad, {}}.run_with_update(prog, inputGrad, weightsGrad,
                                                                                                              nullptr);
}

Tensor gruBwdWithWU(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                    const GruWeights& weights, const Tensor& input, const Tensor& realTimeSteps, const Tensor&, const Tensor& outputGrad,
                    Tensor* inputGrad, GruWeights& weightsGrad, const DebugContext& debugContext, const OptionFlags& options,
                    poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruBwdWithWU"}, options, planningCache, "popnn::gru::gruBwdWithWU");
  return Backward{l, params, fwdOutputInit, fwdIntermediates, weights, input, outputGrad, {nullptr, &realTimeSteps}}.run_with_update(
      prog, inputGrad, weightsGrad, nullptr);
}

Tensor auGruBwdWithWU(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                      const GruWeights& weights, const Tensor& input, const Tensor&, const Tensor& outputGrad, Tensor* inputGrad,
                      GruWeights& weightsGrad, const Tensor& attentions, Tensor* attentionsGrad, const DebugContext& debugContext,
                      const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "auGruBwdWithWU"}, options, planningCache, "popnn::gru::auGruBwdWithWU");
  return Backward{l, params, fwdOutputInit, fwdIntermediates, weights, input, outputGrad, {&attentions, nullptr}}.run_with_update(
      prog, inputGrad, weightsGrad, attentionsGrad);
}

Tensor auGruBwdWithWU(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                      const GruWeights& weights, const Tensor& input, const Tensor& realTimeSteps, const Tensor&, const Tensor& outputGrad,
                      Tensor* inputGrad, GruWeights& weightsGrad, const Tensor& attentions, Tensor* attentionsGrad,
                      const DebugContext& debugContext, const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "auGruBwdWithWU"}, options, planningCache, "popnn::gru::auGruBwdWithWU");
  return Backward{l, params, fwdOutputInit, fwdIntermediates, weights, input, outputGrad, {&attentions, &realTimeSteps}}.run_with_update(
      prog, inputGrad, weightsGrad, attentionsGrad);
}

}  // namespace popnn::gru
