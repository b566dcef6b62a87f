#include "popnn/Lstm.hpp"
#include "poplibs/poputil/reject.h"

#include <popops/ElementWise.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <array>

#include "shards.h"
#include "steps.h"

namespace popnn::lstm {

using namespace poplar;
using internal::Layer;
using program::Sequence;
namespace pe = popops::expr;

namespace {

constexpr std::size_t kUnits = 4;
// What a step leaves for the gradients: the units in the order of the enumeration, the activated cell state, the cell state before.
constexpr std::size_t kKept = 6;

// Where the weights have a unit.
std::size_t place(const LstmParams& params, BasicLstmCellUnit unit) {
  const auto found = std::find(params.cellOrder.begin(), params.cellOrder.end(), unit);
  if (params.cellOrder.size() != kUnits || found == params.cellOrder.end())
    poputil::reject("cell-order", "popnn::lstm: cellOrder does not have each unit once");
  return static_cast<std::size_t>(found - params.cellOrder.begin());
}

constexpr std::array kInOrder = {BASIC_LSTM_CELL_FORGET_GATE, BASIC_LSTM_CELL_INPUT_GATE, BASIC_LSTM_CELL_CANDIDATE,
                                 BASIC_LSTM_CELL_OUTPUT_GATE};

NonLinearityType activation_of(const LstmParams& params, BasicLstmCellUnit unit) {
  return unit == BASIC_LSTM_CELL_CANDIDATE ? params.activation : params.recurrentActivation;
}

void check(const Layer& l, const LstmState& state, const LstmWeights& weights, const Tensor& in) {
  l.check(in, {l.steps(), l.batch(), l.inputs()}, "the input");
  l.check(state.output, {l.batch(), l.outputs()}, "the initial output");
  l.check(state.cellState, {l.batch(), l.outputs()}, "the initial cell state");
  l.check(weights.inputWeights, {kUnits, l.inputs(), l.outputs()}, "the input weights");
  l.check(weights.outputWeights, {kUnits, l.outputs(), l.outputs()}, "the output weights");
  l.check(weights.biases, {kUnits, l.outputs()}, "the biases");
}

// The second operand where the third is 1; where it is 0, the fourth, or 0.
pe::Any selected(bool keep) {
  if (keep) return pe::Any(pe::_2 * pe::_3 + pe::_4 * (pe::Const(1.0f) - pe::_3));
  return pe::Any(pe::_2 * pe::_3);
}

}  // namespace

std::vector<BasicLstmCellUnit> getDefaultBasicLstmCellOrder() { return {kInOrder.begin(), kInOrder.end()}; }

Tensor createInput(Graph& graph, const LstmParams& params, const DebugContext& debugContext, const OptionFlags& options,
                   poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "lstm"}, options, planningCache, "popnn::lstm::createInput");
  return poplin::createMatMulInputLHS(graph, params.rnn.dataType, {l.steps() * l.batch(), l.inputs()}, {l.inputs(), kUnits * l.outputs()},
                                      {l.debug, "input"}, l.products, planningCache)
      .reshape({l.steps(), l.batch(), l.inputs()});
}

Tensor createInitialOutput(Graph& graph, const LstmParams& params, const DebugContext& debugContext, const OptionFlags& options,
                           poplin::PlanningCache* cache) {
  return Layer(graph, params.rnn, {debugContext, "lstm"}, options, cache, "popnn::lstm::createInitialOutput").state("initialOutput");
}
Tensor createInitialCellState(Graph& graph, const LstmParams& params, const DebugContext& debugContext, const OptionFlags& options,
                              poplin::PlanningCache* cache) {
  return Layer(graph, params.rnn, {debugContext, "lstm"}, options, cache, "popnn::lstm::createInitialCellState").state("initialCellState");
}
LstmState createInitialState(Graph& graph, const LstmParams& params, const DebugContext& debugContext, const OptionFlags& options,
                             poplin::PlanningCache* cache) {
  return {createInitialOutput(graph, params, debugContext, options, cache),
          createInitialCellState(graph, params, debugContext, options, cache)};
}
void zeroInitialState(Graph& graph, const LstmState& initialState, Sequence& prog, const DebugContext& debugContext) {
  popops::zero(graph, initialState.output, prog, {debugContext, "zeroInitialState"});
  popops::zero(graph, initialState.cellState, prog, {debugContext, "zeroInitialState"});
}

std::pair<Tensor, Tensor> createWeightsKernel(Graph& graph, const LstmParams& params, const DebugContext& debugContext,
                                              const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "lstm"}, options, planningCache, "popnn::lstm::createWeights");
  const std::size_t columns = kUnits * l.outputs();
  const auto matrix = [&](std::size_t rows, std::size_t height, const char* name) {
    return internal::by_unit(poplin::createMatMulInputRHS(graph, params.rnn.dataType, {height, rows}, {rows, columns}, {l.debug, name},
                                                          l.products, planningCache),
                             kUnits);
  };
  return {matrix(l.inputs(), l.steps() * l.batch(), "inputWeights"), matrix(l.outputs(), l.batch(), "outputWeights")};
}

Tensor createWeightsBiases(Graph& graph, const LstmParams& params, const DebugContext& debugContext, const OptionFlags& options,
                           poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "lstm"}, options, planningCache, "popnn::lstm::createWeightsBiases");
  const Tensor t = graph.addVariable(params.rnn.dataType, {kUnits, l.outputs()}, {l.debug, "biases"});
  poputil::mapTensorLinearly(graph, t);
  return t;
}

LstmWeights createWeights(Graph& graph, const LstmParams& params, const DebugContext& debugContext, const OptionFlags& options,
                          poplin::PlanningCache* planningCache) {
  const auto [input, output] = createWeightsKernel(graph, params, debugContext, options, planningCache);
  return {input, output, createWeightsBiases(graph, params, debugContext, options, planningCache)};
}

std::pair<Tensor, Tensor> lstmFwd(Graph& graph, const LstmParams& params, const LstmState& stateInit, const Tensor& in,
                                  const LstmWeights& weights, Tensor* intermediates, Sequence& prog, const DebugContext& debugContext,
                                  const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "lstmFwd"}, options, planningCache, "popnn::lstm::lstmFwd");
  check(l, stateInit, weights, in);
  // All steps' inputs at once; what the state adds comes step by step.
  const Tensor from_inputs = l.product(in.flatten(0, 2), internal::as_matrix(weights.inputWeights), prog, "inputs")
                                 .reshape({l.steps(), l.batch(), kUnits, l.outputs()});
  popops::addInPlace(graph, from_inputs, weights.biases, prog, {l.debug, "biases"});
  const Tensor h = l.copy_of(stateInit.output, prog, "output"), c = l.copy_of(stateInit.cellState, prog, "cellState");
  const Tensor matrix = internal::as_matrix(weights.outputWeights);
  Tensor outputs;
  if (params.outputFullSequence) outputs = l.results({l.batch(), l.outputs()}, prog, "outputs");
  if (intermediates) *intermediates = l.results({kKept, l.batch(), l.outputs()}, prog, "intermediates");
  const bool masked = params.rnn.batchVariableTimeSteps();
  l.loop(
      Layer::Order::forward, prog,
      [&](const Tensor& step, Sequence& round) {
        const Tensor sums = l.get(from_inputs, step, round, "inputs");
        popops::addInPlace(graph, sums, l.product(h, matrix, round, "state").reshape(sums.shape()), round, {l.debug, "sums"});
        std::vector<Tensor> units;
        for (const BasicLstmCellUnit u : kInOrder)
          units.push_back(l.activated(activation_of(params, u), sums.slice(place(params, u), place(params, u) + 1, 1).squeeze({1}), round));
        const Tensor before = intermediates || masked ? l.copy_of(c, round, "before") : c;
        popops::mapInPlace(graph, pe::_1 * pe::_2 + pe::_3 * pe::_4, {c, units[0], units[1], units[2]}, round, {l.debug, "cellState"});
        const Tensor active = l.activated(params.activation, c, round);
        const Tensor output = popops::mul(graph, units[3], active, round, {l.debug, "output"});
        if (masked) {
          const Tensor counts = l.counts(params.rnn.varTimeSteps, Layer::Order::forward, step, round);
          popops::mapInPlace(graph, selected(params.preserveFinalState), {c, c, counts, before}, round, {l.debug, "cellState"});
          popops::mapInPlace(graph, selected(true), {h, output, counts, h}, round, {l.debug, "output"});
          if (outputs.valid()) popops::mulInPlace(graph, output, counts, round, {l.debug, "outputs"});
        } else {
          round.add(program::Copy(output, h, false, {l.debug, "output"}));
        }
        if (outputs.valid()) l.put(outputs, masked ? output : h, step, round, "outputs");
        if (!intermediates) return;
        units.push_back(active);
        units.push_back(before);
        std::vector<Tensor> kept;
        for (const Tensor& t : units) kept.push_back(t.expand({0}));
        l.put(*intermediates, concat(kept), step, round, "intermediates");
      },
      "steps");
  return {outputs.valid() ? outputs : h, c};
}

Tensor lstmFwd(Graph& graph, const LstmParams& params, Sequence& prog, const LstmState& stateInit, const LstmWeights& weights,
               const Tensor& in, Tensor* intermediates, const DebugContext& debugContext, const OptionFlags& options,
               poplin::PlanningCache* planningCache) {
  return lstmFwd(graph, params, stateInit, in, weights, intermediates, prog, debugContext, options, planningCache).first;
}

LstmState lstmBwd(Graph& graph, const LstmParams& params, Sequence& prog, const LstmState& fwdStateInit, const Tensor& fwdIntermediates,
                  const LstmWeights& weights, const Tensor& input, const Tensor&, const Tensor& outputGrad,
                  const StateGradient& lastStateGrad, Tensor* inputGrad, Tensor* bwdIntermediates, const DebugContext& debugContext,
                  const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "lstmBwd"}, options, planningCache, "popnn::lstm::lstmBwd");
  check(l, fwdStateInit, weights, input);
  l.check(fwdIntermediates, {l.steps(), kKept, l.batch(), l.outputs()}, "the intermediates");
  const bool full = params.outputFullSequence;
  l.check(outputGrad, full ? std::vector<std::size_t>{l.steps(), l.batch(), l.outputs()} : std::vector<std::size_t>{l.batch(), l.outputs()},
          "the output's gradient");
  const Tensor dh = full ? l.zeros_like(fwdStateInit.output, prog, "outputGradient") : l.copy_of(outputGrad, prog, "outputGradient");
  if (lastStateGrad.output && lastStateGrad.output->valid()) {
    l.check(*lastStateGrad.output, {l.batch(), l.outputs()}, "the last output's gradient");
    popops::addInPlace(graph, dh, *lastStateGrad.output, prog, {l.debug, "outputGradient"});
  }
  const bool of_cell = lastStateGrad.cellState && lastStateGrad.cellState->valid();
  if (of_cell) l.check(*lastStateGrad.cellState, {l.batch(), l.outputs()}, "the last cell state's gradient");
  const Tensor dc =
      of_cell ? l.copy_of(*lastStateGrad.cellState, prog, "cellGradient") : l.zeros_like(fwdStateInit.cellState, prog, "cellGradient");
  const Tensor unit_gradients = l.results({l.batch(), kUnits, l.outputs()}, prog, "unitGradients");
  const Tensor matrix = internal::as_matrix(weights.outputWeights).transpose();
  const bool masked = params.rnn.batchVariableTimeSteps();
  // Steps from the last to the first: of reversed sequences.
  l.loop(
      Layer::Order::backward, prog,
      [&](const Tensor& step, Sequence& round) {
        const Tensor kept = l.get(fwdIntermediates.reverse(0), step, round, "intermediates");
        const Tensor f = kept[0], i = kept[1], g = kept[2], o = kept[3], active = kept[4], before = kept[5];
        Tensor counts, past_h, past_c;  // the last two: gradients that pass sequences which have ended
        if (masked) {
          counts = l.counts(params.rnn.varTimeSteps, Layer::Order::backward, step, round);
          const auto passing = [&](const Tensor& gradient) {
            return popops::map(graph, pe::_1 * (pe::Const(1.0f) - pe::_2), {gradient, counts}, round, {l.debug, "passing"});
          };
          past_h = passing(dh);
          if (params.preserveFinalState) past_c = passing(dc);
        }
        if (full)
          popops::addInPlace(graph, dh, l.get(outputGrad.reverse(0), step, round, "outputGradient"), round, {l.debug, "outputGradient"});
        if (masked)
          for (const Tensor& t : {dh, dc}) popops::mulInPlace(graph, t, counts, round, {l.debug, "counts"});
        popops::addInPlace(graph, dc,
                           l.activation_gradient(params.activation, active, popops::mul(graph, dh, o, round, {l.debug, "cell"}), round),
                           round, {l.debug, "cellGradient"});
        const std::array<Tensor, kUnits> results = {
            popops::mul(graph, dc, before, round, {l.debug, "f"}), popops::mul(graph, dc, g, round, {l.debug, "i"}),
            popops::mul(graph, dc, i, round, {l.debug, "g"}), popops::mul(graph, dh, active, round, {l.debug, "o"})};
        std::vector<Tensor> gradients(kUnits);
        for (std::size_t u = 0; u < kUnits; ++u)
          gradients[place(params, kInOrder[u])] =
              l.activation_gradient(activation_of(params, kInOrder[u]), kept[u], results[u], round).expand({1});
        const Tensor all = concat(gradients, 1);
        l.put(unit_gradients.reverse(0), all, step, round, "unitGradients");
        popops::mulInPlace(graph, dc, f, round, {l.debug, "cellGradient"});
        if (past_c.valid()) popops::addInPlace(graph, dc, past_c, round, {l.debug, "cellGradient"});
        round.add(program::Copy(l.product(all.flatten(1, 3), matrix, round, "stateGradient"), dh, false, {l.debug, "outputGradient"}));
        if (masked) popops::addInPlace(graph, dh, past_h, round, {l.debug, "outputGradient"});
      },
      "steps");
  if (bwdIntermediates) *bwdIntermediates = unit_gradients;
  if (inputGrad)
    *inputGrad =
        l.product(unit_gradients.flatten(0, 2).flatten(1, 3), internal::as_matrix(weights.inputWeights).transpose(), prog, "inputGradient")
            .reshape({l.steps(), l.batch(), l.inputs()});
  return {dh, dc};
}

LstmWeights lstmWU(Graph& graph, const LstmParams& params, Sequence& prog, const LstmState& fwdStateInit, const Tensor& fwdIntermediates,
                   const Tensor& bwdIntermediates, const LstmWeights& weights, const Tensor& input, const Tensor&,
                   const DebugContext& debugContext, const OptionFlags& options, poplin::PlanningCache* planningCache) {
  const Layer l(graph, params.rnn, {debugContext, "lstmWU"}, options, planningCache, "popnn::lstm::lstmWU");
  check(l, fwdStateInit, weights, input);
  l.check(fwdIntermediates, {l.steps(), kKept, l.batch(), l.outputs()}, "the intermediates");
  l.check(bwdIntermediates, {l.steps(), l.batch(), kUnits, l.outputs()}, "the backward intermediates");
  // What came out of each step, whether or not the forward pass kept it.
  const Tensor outputs = popops::mul(graph, fwdIntermediates.dimRoll(1)[3], fwdIntermediates.dimRoll(1)[4], prog, {l.debug, "outputs"});
  return {
      internal::weights_gradient(l, input, bwdIntermediates, prog, "inputWeightsGradient"),
      internal::weights_gradient(l, internal::states_before(fwdStateInit.output, outputs), bwdIntermediates, prog, "outputWeightsGradient"),
      internal::biases_gradient(l, bwdIntermediates, prog)};
}

LstmState lstmBwdWithWU(Graph& graph, const LstmParams& params, Sequence& prog, const LstmState& fwdStateInit,
                        const Tensor& fwdIntermediates, const LstmWeights& weights, const Tensor& input, const Tensor& output,
                        const Tensor& outputGrad, const StateGradient& lastStateGrad, Tensor* inputGrad, LstmWeights& weightsGrad,
                        const DebugContext& debugContext, const OptionFlags& options, poplin::PlanningCache* planningCache) {
  Tensor between;
  const LstmState state = lstmBwd(graph, params, prog, fwdStateInit, fwdIntermediates, weights, input, output, outputGrad, lastStateGrad,
                                  inputGrad, &between, debugContext, options, planningCache);
  weightsGrad =
      lstmWU(graph, params, prog, fwdStateInit, fwdIntermediates, between, weights, input, output, debugContext, options, planningCache);
  return state;
}

std::vector<std::pair<poplin::MatMulParams, OptionFlags>> getMatMulPrePlanParameters(LstmParams params, OptionFlags opts) {
  rnn::internal::check_parameters(params.rnn, "popnn::lstm::getMatMulPrePlanParameters");
  const Type type = params.rnn.dataType;
  const std::size_t batch = params.rnn.batchSize, rows = params.rnn.maxTimeSteps * batch, in = params.rnn.layerSizes[0],
                    out = params.rnn.layerSizes[1], units = kUnits * out;
  std::vector<std::pair<poplin::MatMulParams, OptionFlags>> products;
  const auto add = [&](std::size_t m, std::size_t k, std::size_t n) {
    products.emplace_back(poplin::MatMulParams{type, type, {1, m, k}, {1, k, n}}, internal::of_products(opts));
  };
  add(rows, in, units);
  add(batch, out, units);
  if (opts.contains("inferenceOnly") && opts.at("inferenceOnly") == "true") return products;
  add(batch, units, out);
  if (params.calcInputGradients) add(rows, units, in);
  add(in, rows, units);
  add(out, rows, units);
  return products;
}

std::uint64_t getBasicLstmCellFwdFlops(const LstmParams& params) {
  // Each unit: products with input and state, their sum and the bias; the cell state: two products and a sum; the output: a product.
  const std::uint64_t cells = internal::cells_of(params.rnn, "popnn::lstm");
  return cells * (kUnits * (2 * params.rnn.layerSizes[0] + 2 * params.rnn.layerSizes[1] + 2) + 4);
}
std::uint64_t getBasicLstmCellBwdFlops(const LstmParams& params) {
  const std::uint64_t cells = internal::cells_of(params.rnn, "popnn::lstm");
  const std::uint64_t inputs = params.calcInputGradients ? params.rnn.layerSizes[0] : 0;
  // Each unit: products that lead to input and state. The cell's gradient: a product and a sum; its units': four products; what goes on:
  // one.
  return cells * (kUnits * (2 * inputs + 2 * params.rnn.layerSizes[1]) + 7);
}
std::uint64_t getBasicLstmCellWuFlops(const LstmParams& params) {
  const std::uint64_t cells = internal::cells_of(params.rnn, "popnn::lstm");
  return cells * kUnits * (2 * params.rnn.layerSizes[0] + 2 * params.rnn.layerSizes[1] + 1);
}

}  // namespace popnn::lstm
