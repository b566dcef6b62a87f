#include "popnn/Gru.hpp"
#include "poplibs/poputil/refuse.h"

#include <popops/ElementWise.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>

#include "steps.h"

namespace popnn::gru {

using namespace poplar;
using internal::Layer;
using program::Sequence;
namespace pe = popops::expr;
using Unit = BasicGruCellUnit;

namespace {

constexpr std::size_t kUnits = 3;
// What a step leaves for the gradients: r, u, c, the state before, r * the state before.
constexpr std::size_t kKept = 5;

// Where the weights have a unit.
std::size_t place(const GruParams& params, Unit unit) {
  const auto found = std::find(params.cellOrder.begin(), params.cellOrder.end(), unit);
  if (params.cellOrder.size() != kUnits || found == params.cellOrder.end())
    poputil::refuse("cell-order", "popnn::gru: cellOrder does not have each unit once");
  return static_cast<std::size_t>(found - params.cellOrder.begin());
}

Tensor weights_of(const GruParams& params, const Tensor& weights, Unit unit) { return weights[place(params, unit)]; }
Tensor column(const GruParams& params, const Tensor& units, Unit unit) {
  return units.slice(place(params, unit), place(params, unit) + 1, 1).squeeze({1});
}

// The matrices of both gates side by side.
Tensor gates(const GruParams& params, const Tensor& weights) {
  return concat(weights_of(params, weights, BASIC_GRU_CELL_RESET_GATE), weights_of(params, weights, BASIC_GRU_CELL_UPDATE_GATE), 1);
}

void check(const Layer& l, const GruParams& params, const Tensor& state, const GruWeights& weights, const Tensor& in) {
  if (params.resetAfter) poputil::refuse("reset-after", "{}", l.where + ": resetAfter is not supported");
  l.check(in, {l.steps(), l.batch(), l.inputs()}, "the input");
  l.check(state, {l.batch(), l.outputs()}, "the initial state");
  l.check(weights.inputWeights, {kUnits, l.inputs(), l.outputs()}, "the input weights");
  l.check(weights.outputWeights, {kUnits, l.outputs(), l.outputs()}, "the output weights");
  l.check(weights.biases, {kUnits, l.outputs()}, "the biases");
}

}  // namespace

std::vector<Unit> getDefaultBasicGruCellOrder() {
  return {BASIC_GRU_CELL_RESET_GATE, BASIC_GRU_CELL_UPDATE_GATE, BASIC_GRU_CELL_CANDIDATE};
}

Tensor createInput(Graph& graph, const GruParams& params, const DebugContext& debugContext, const OptionFlags& options,
                   poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gru"}, options, planningCache, "popnn::gru::createInput");
  return poplin::createMatMulInputLHS(graph, params.rnn.dataType, {l.steps() * l.batch(), l.inputs()}, {l.inputs(), kUnits * l.outputs()},
                                      {l.debug, "input"}, l.products, planningCache)
      .reshape({l.steps(), l.batch(), l.inputs()});
}

Tensor createInitialState(Graph& graph, const GruParams& params, const DebugContext& debugContext, const OptionFlags& options,
                          poplin::PlanningCache* cache) {
  return Layer(graph, params.rnn, {debugContext, "gru"}, options, cache, "popnn::gru::createInitialState").state("initialState");
}

std::pair<Tensor, Tensor> createWeightsKernel(Graph& graph, const GruParams& params, const DebugContext& debugContext,
                                              const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gru"}, options, planningCache, "popnn::gru::createWeights");
  const std::size_t columns = kUnits * l.outputs();
  const auto matrix = [&](std::size_t rows, std::size_t height, const char* name) {
    return internal::by_unit(poplin::createMatMulInputRHS(graph, params.rnn.dataType, {height, rows}, {rows, columns}, {l.debug, name},
                                                          l.products, planningCache),
                             kUnits);
  };
  return {matrix(l.inputs(), l.steps() * l.batch(), "inputWeights"), matrix(l.outputs(), l.batch(), "outputWeights")};
}

Tensor createWeightsBiases(Graph& graph, const GruParams& params, const DebugContext& debugContext, const OptionFlags& options,
                           poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gru"}, options, planningCache, "popnn::gru::createWeightsBiases");
  const Tensor t = graph.addVariable(params.rnn.dataType, {kUnits, l.outputs()}, {l.debug, "biases"});
  poputil::mapTensorLinearly(graph, t);
  return t;
}

GruWeights createWeights(Graph& graph, const GruParams& params, const DebugContext& debugContext, const OptionFlags& options,
                         poplin::PlanningCache* planningCache) {
  const auto [input, output] = createWeightsKernel(graph, params, debugContext, options, planningCache);
  return {input, output, createWeightsBiases(graph, params, debugContext, options, planningCache)};
}

Tensor gruFwd(Graph& graph, const GruParams& params, const Tensor& stateInit, const Tensor& in, const GruWeights& weights,
              Tensor* intermediates, Sequence& prog, const DebugContext& debugContext, const OptionFlags& options,
              poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruFwd"}, options, planningCache, "popnn::gru::gruFwd");
  check(l, params, stateInit, weights, in);
  const Tensor from_inputs = l.product(in.flatten(0, 2), internal::as_matrix(weights.inputWeights), prog, "inputs")
                                 .reshape({l.steps(), l.batch(), kUnits, l.outputs()});
  popops::addInPlace(graph, from_inputs, weights.biases, prog, {l.debug, "biases"});
  const Tensor h = l.copy_of(stateInit, prog, "state");
  Tensor outputs;
  if (params.outputFullSequence) outputs = l.sequence({l.batch(), l.outputs()}, "outputs");
  if (intermediates) *intermediates = l.sequence({kKept, l.batch(), l.outputs()}, "intermediates");
  const Tensor of_gates = gates(params, weights.outputWeights),
               of_candidate = weights_of(params, weights.outputWeights, BASIC_GRU_CELL_CANDIDATE);
  l.loop(
      prog,
      [&](const Tensor& step, Sequence& round) {
        const Tensor sums = l.get(from_inputs, step, round, "inputs");
        const Tensor added = l.product(h, of_gates, round, "gates");
        const auto gate = [&](Unit u, std::size_t i) {
          const Tensor sum =
              popops::add(graph, column(params, sums, u), added.slice(i * l.outputs(), (i + 1) * l.outputs(), 1), round, {l.debug, "gate"});
          return l.activated(params.recurrentActivation, sum, round);
        };
        const Tensor r = gate(BASIC_GRU_CELL_RESET_GATE, 0), u = gate(BASIC_GRU_CELL_UPDATE_GATE, 1);
        const Tensor reset = popops::mul(graph, r, h, round, {l.debug, "reset"});
        const Tensor c = l.activated(params.activation,
                                     popops::add(graph, column(params, sums, BASIC_GRU_CELL_CANDIDATE),
                                                 l.product(reset, of_candidate, round, "candidate"), round, {l.debug, "candidate"}),
                                     round);
        if (intermediates) {
          std::vector<Tensor> kept;
          for (const Tensor& t : {r, u, c, h, reset}) kept.push_back(t.expand({0}));
          l.put(*intermediates, concat(kept), step, round, "intermediates");
        }
        popops::mapInPlace(graph, pe::_2 * pe::_1 + (pe::Const(1.0f) - pe::_2) * pe::_3, {h, u, c}, round, {l.debug, "state"});
        if (outputs.valid()) l.put(outputs, h, step, round, "outputs");
      },
      "steps");
  return outputs.valid() ? outputs : h;
}

Tensor gruBwd(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
              const GruWeights& weights, const Tensor& fwdInputSeq, const Tensor&, const Tensor& gradLayerNext, Tensor* inputGrad,
              Tensor* bwdIntermediates, const DebugContext& debugContext, const OptionFlags& options,
              poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruBwd"}, options, planningCache, "popnn::gru::gruBwd");
  check(l, params, fwdOutputInit, weights, fwdInputSeq);
  l.check(fwdIntermediates, {l.steps(), kKept, l.batch(), l.outputs()}, "the intermediates");
  const bool full = params.outputFullSequence;
  l.check(gradLayerNext,
          full ? std::vector<std::size_t>{l.steps(), l.batch(), l.outputs()} : std::vector<std::size_t>{l.batch(), l.outputs()},
          "the output's gradient");
  const Tensor dh = full ? l.zeros_like(fwdOutputInit, prog, "outputGradient") : l.copy_of(gradLayerNext, prog, "outputGradient");
  const Tensor unit_gradients = l.sequence({l.batch(), kUnits, l.outputs()}, "unitGradients");
  const Tensor of_gates = gates(params, weights.outputWeights).transpose(),
               of_candidate = weights_of(params, weights.outputWeights, BASIC_GRU_CELL_CANDIDATE).transpose();
  l.loop(
      prog,
      [&](const Tensor& step, Sequence& round) {
        const Tensor kept = l.get(fwdIntermediates.reverse(0), step, round, "intermediates");
        const Tensor r = kept[0], u = kept[1], c = kept[2], before = kept[3];
        if (full)
          popops::addInPlace(graph, dh, l.get(gradLayerNext.reverse(0), step, round, "outputGradient"), round, {l.debug, "outputGradient"});
        const Tensor d_u = popops::map(graph, pe::_1 * (pe::_2 - pe::_3), {dh, before, c}, round, {l.debug, "u"});
        const Tensor d_c = popops::map(graph, pe::_1 * (pe::Const(1.0f) - pe::_2), {dh, u}, round, {l.debug, "c"});
        const Tensor sum_c = l.activation_gradient(params.activation, c, d_c, round);
        const Tensor d_reset = l.product(sum_c, of_candidate, round, "resetGradient");
        const Tensor sum_u = l.activation_gradient(params.recurrentActivation, u, d_u, round);
        const Tensor sum_r =
            l.activation_gradient(params.recurrentActivation, r, popops::mul(graph, d_reset, before, round, {l.debug, "r"}), round);
        std::vector<Tensor> gradients(kUnits);
        gradients[place(params, BASIC_GRU_CELL_RESET_GATE)] = sum_r.expand({1});
        gradients[place(params, BASIC_GRU_CELL_UPDATE_GATE)] = sum_u.expand({1});
        gradients[place(params, BASIC_GRU_CELL_CANDIDATE)] = sum_c.expand({1});
        l.put(unit_gradients.reverse(0), concat(gradients, 1), step, round, "unitGradients");
        const Tensor through_gates = l.product(concat(sum_r, sum_u, 1), of_gates, round, "stateGradient");
        popops::mapInPlace(graph, pe::_1 * pe::_2 + pe::_3 * pe::_4 + pe::_5, {dh, u, d_reset, r, through_gates}, round,
                           {l.debug, "outputGradient"});
      },
      "steps");
  if (bwdIntermediates) *bwdIntermediates = unit_gradients;
  if (inputGrad)
    *inputGrad =
        l.product(unit_gradients.flatten(0, 2).flatten(1, 3), internal::as_matrix(weights.inputWeights).transpose(), prog, "inputGradient")
            .reshape({l.steps(), l.batch(), l.inputs()});
  return dh;
}

GruWeights gruWU(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                 const Tensor& bwdIntermediates, const GruWeights& weights, const Tensor& input, const Tensor&,
                 const DebugContext& debugContext, const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "gruWU"}, options, planningCache, "popnn::gru::gruWU");
  check(l, params, fwdOutputInit, weights, input);
  l.check(fwdIntermediates, {l.steps(), kKept, l.batch(), l.outputs()}, "the intermediates");
  l.check(bwdIntermediates, {l.steps(), l.batch(), kUnits, l.outputs()}, "the backward intermediates");
  const Tensor kept = fwdIntermediates.dimRoll(1);
  std::vector<Tensor> output_weights(kUnits);
  for (const Unit u : getDefaultBasicGruCellOrder()) {
    const std::size_t at = place(params, u);
    output_weights[at] = internal::weights_gradient(l, kept[u == BASIC_GRU_CELL_CANDIDATE ? 4 : 3], bwdIntermediates.slice(at, at + 1, 2),
                                                    prog, "outputWeightsGradient");
  }
  return {internal::weights_gradient(l, input, bwdIntermediates, prog, "inputWeightsGradient"), concat(output_weights, 0),
          internal::biases_gradient(l, bwdIntermediates, prog)};
}

Tensor gruBwdWithWU(Graph& graph, const GruParams& params, Sequence& prog, const Tensor& fwdOutputInit, const Tensor& fwdIntermediates,
                    const GruWeights& weights, const Tensor& input, const Tensor& output, const Tensor& outputGrad, Tensor* inputGrad,
                    GruWeights& weightsGrad, const DebugContext& debugContext, const OptionFlags& options,
                    poplin::PlanningCache* planningCache) {
  Tensor between;
  const Tensor state = gruBwd(graph, params, prog, fwdOutputInit, fwdIntermediates, weights, input, output, outputGrad, inputGrad, &between,
                              debugContext, options, planningCache);
  weightsGrad =
      gruWU(graph, params, prog, fwdOutputInit, fwdIntermediates, between, weights, input, output, debugContext, options, planningCache);
  return state;
}

}  // namespace popnn::gru
