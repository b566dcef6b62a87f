#include "gru_steps.h"

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>

#include <algorithm>

#include "poplibs/poputil/reject.h"

namespace popnn::gru {

using namespace poplar;
using internal::Layer;
using program::Sequence;
namespace pe = popops::expr;
using Unit = BasicGruCellUnit;

namespace {

// What a step leaves for the gradients: r, u, c, the state before, and what the reset gate makes of it: r * the state, or with resetAfter
// what it multiplies, the state's product and its biases.
constexpr std::size_t kKept = 5;

// Where the weights have a unit.
std::size_t place(const GruParams& params, Unit unit) {
  const auto found = std::find(params.cellOrder.begin(), params.cellOrder.end(), unit);
  if (params.cellOrder.size() != kGruUnits || found == params.cellOrder.end())
    poputil::reject("cell-order", "popnn::gru: cellOrder does not have each unit once");
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

// Of the sums with the inputs; with resetAfter biases of the products with the state stand beside them.
Tensor input_biases(const GruParams& params, const GruWeights& weights) {
  return params.resetAfter ? weights.biases.slice(0, 1, 1).squeeze({1}) : weights.biases;
}
Tensor state_biases(const GruWeights& weights) { return weights.biases.slice(1, 2, 1).squeeze({1}); }

void check(const Layer& l, const GruParams& params, const Tensor& state, const GruWeights& weights, const Tensor& in,
           const Extras& extras) {
  l.check(in, {l.steps(), l.batch(), l.inputs()}, "the input");
  l.check(state, {l.batch(), l.outputs()}, "the initial state");
  l.check(weights.inputWeights, {kGruUnits, l.inputs(), l.outputs()}, "the input weights");
  l.check(weights.outputWeights, {kGruUnits, l.outputs(), l.outputs()}, "the output weights");
  l.check(weights.biases,
          params.resetAfter ? std::vector<std::size_t>{kGruUnits, 2, l.outputs()} : std::vector<std::size_t>{kGruUnits, l.outputs()},
          "the biases");
  if (extras.attention) l.check(*extras.attention, {l.batch(), l.steps()}, "the attention");
  if (!extras.lengths) return;
  const Tensor& n = *extras.lengths;
  if (n.shape() != std::vector<std::size_t>{l.batch()} || (n.elementType() != INT && n.elementType() != UNSIGNED_INT))
    poputil::reject("real-time-steps", "{}: realTimeSteps is {} {}; expected int or unsigned int {{{}}}", l.where,
                    n.elementType().toString(), n.shapeToString(), l.batch());
}

// With the lengths that the parameters give. Where the last output alone is asked for, that is each sequence's own last one.
Extras with_lengths(const Layer& l, const GruParams& params, Extras extras) {
  if (!params.rnn.variableTimeSteps()) return extras;
  if (extras.lengths)
    poputil::reject("real-time-steps", "{}: both realTimeSteps and params.rnn.varTimeSteps; expected one of them", l.where);
  if (params.rnn.batchVariableTimeSteps()) {
    extras.lengths = &params.rnn.varTimeSteps;
    extras.keeps_state = !params.outputFullSequence;
  }
  return extras;
}

// What of the extras belongs to a step, each as {batch, outputs}.
class StepExtras {
 public:
  StepExtras(const Layer& layer, const Extras& extras) : l_(layer), extras_(extras) {}

  bool has_attention() const { return extras_.attention != nullptr; }
  bool has_lengths() const { return extras_.lengths != nullptr; }
  Tensor attention(const Tensor& step, bool backward, Sequence& prog) const {
    const Tensor all = extras_.attention->transpose();
    return wide(l_.get(backward ? all.reverse(0) : all, step, prog, "attention"));
  }
  // 1 where the step counts, else 0.
  Tensor counts(const Tensor& step, bool backward, Sequence& prog) const {
    return l_.counts(*extras_.lengths, backward ? Layer::Order::backward : Layer::Order::forward, step, prog);
  }
  // Behind its end a sequence's state stays what it was; else it is 0.
  bool keeps_state() const { return extras_.keeps_state; }

 private:
  Tensor wide(const Tensor& of_sequences) const { return of_sequences.expand({1}).broadcast(static_cast<unsigned>(l_.outputs()), 1); }

  const Layer& l_;
  const Extras& extras_;
};

// One step of the forward pass.
class ForwardStep {
 public:
  ForwardStep(const Layer& layer, const GruParams& params, const GruWeights& weights, const StepExtras& extras)
      : l_(layer),
        params_(params),
        weights_(weights),
        extras_(extras),
        of_gates_(gates(params, weights.outputWeights)),
        of_candidate_(weights_of(params, weights.outputWeights, BASIC_GRU_CELL_CANDIDATE)) {}

  // `h` becomes the state after the step; returns what is kept.
  std::vector<Tensor> run(const Tensor& sums, const Tensor& h, const Tensor& step, Sequence& prog) {
    const Tensor added = l_.product(h, of_gates_, prog, "gates");
    const Tensor r = gate(sums, added, BASIC_GRU_CELL_RESET_GATE, 0, prog), u = gate(sums, added, BASIC_GRU_CELL_UPDATE_GATE, 1, prog);
    const Tensor of_input = column(params_, sums, BASIC_GRU_CELL_CANDIDATE);
    Tensor kept, sum;
    if (params_.resetAfter) {
      kept = l_.product(h, of_candidate_, prog, "candidate");
      popops::addInPlace(l_.graph, kept, weights_of(params_, state_biases(weights_), BASIC_GRU_CELL_CANDIDATE), prog, {l_.debug, "biases"});
      sum = popops::map(l_.graph, pe::_1 + pe::_2 * pe::_3, {of_input, r, kept}, prog, {l_.debug, "candidate"});
    } else {
      kept = popops::mul(l_.graph, r, h, prog, {l_.debug, "reset"});
      sum = popops::add(l_.graph, of_input, l_.product(kept, of_candidate_, prog, "candidate"), prog, {l_.debug, "candidate"});
    }
    const Tensor c = l_.activated(params_.activation, sum, prog), before = l_.copy_of(h, prog, "before");
    const Tensor update = extras_.has_attention() ? popops::map(l_.graph, pe::_1 * (pe::Const(1.0f) - pe::_2),
                                                                {u, extras_.attention(step, false, prog)}, prog, {l_.debug, "u"})
                                                  : u;
    const auto state = pe::_2 * pe::_1 + (pe::Const(1.0f) - pe::_2) * pe::_3;
    if (extras_.has_lengths() && extras_.keeps_state())
      popops::mapInPlace(l_.graph, pe::_4 * state + (pe::Const(1.0f) - pe::_4) * pe::_1, {h, update, c, extras_.counts(step, false, prog)},
                         prog, {l_.debug, "state"});
    else if (extras_.has_lengths())
      popops::mapInPlace(l_.graph, pe::_4 * state, {h, update, c, extras_.counts(step, false, prog)}, prog, {l_.debug, "state"});
    else
      popops::mapInPlace(l_.graph, state, {h, update, c}, prog, {l_.debug, "state"});
    return {r, u, c, before, kept};
  }

 private:
  Tensor gate(const Tensor& sums, const Tensor& added, Unit unit, std::size_t i, Sequence& prog) {
    const Tensor sum = popops::add(l_.graph, column(params_, sums, unit), added.slice(i * l_.outputs(), (i + 1) * l_.outputs(), 1), prog,
                                   {l_.debug, "gate"});
    if (params_.resetAfter)
      popops::addInPlace(l_.graph, sum, weights_of(params_, state_biases(weights_), unit), prog, {l_.debug, "biases"});
    return l_.activated(params_.recurrentActivation, sum, prog);
  }

  const Layer& l_;
  const GruParams& params_;
  const GruWeights& weights_;
  const StepExtras& extras_;
  Tensor of_gates_, of_candidate_;
};

// One step of the backward pass.
class BackwardStep {
 public:
  BackwardStep(const Layer& layer, const GruParams& params, const GruWeights& weights, const StepExtras& extras)
      : l_(layer),
        params_(params),
        extras_(extras),
        of_gates_(gates(params, weights.outputWeights).transpose()),
        of_candidate_(weights_of(params, weights.outputWeights, BASIC_GRU_CELL_CANDIDATE).transpose()) {}

  // `dh` becomes the gradient of the state before the step; returns the sums' gradients {batch, units, outputs}, and sets *of_attention.
  Tensor run(const Tensor& kept, const Tensor& dh, const Tensor& step, Tensor* of_attention, Sequence& prog) {
    const Tensor r = kept[0], u = kept[1], c = kept[2], before = kept[3];
    Tensor passing;  // gradients that pass sequences which have ended
    if (extras_.has_lengths()) {
      const Tensor counts = extras_.counts(step, true, prog);
      if (extras_.keeps_state())
        passing = popops::map(l_.graph, pe::_1 * (pe::Const(1.0f) - pe::_2), {dh, counts}, prog, {l_.debug, "passing"});
      popops::mulInPlace(l_.graph, dh, counts, prog, {l_.debug, "counts"});
    }
    Tensor d_u = popops::map(l_.graph, pe::_1 * (pe::_2 - pe::_3), {dh, before, c}, prog, {l_.debug, "u"}), update = u;
    if (extras_.has_attention()) {
      const Tensor a = extras_.attention(step, true, prog);
      *of_attention = popops::reduce(l_.graph, popops::map(l_.graph, -(pe::_1 * pe::_2), {d_u, u}, prog, {l_.debug, "attention"}),
                                     l_.params.dataType, {1}, popops::Operation::ADD, prog, {l_.debug, "attention"});
      update = popops::map(l_.graph, pe::_1 * (pe::Const(1.0f) - pe::_2), {u, a}, prog, {l_.debug, "u"});
      d_u = popops::map(l_.graph, pe::_1 * (pe::Const(1.0f) - pe::_2), {d_u, a}, prog, {l_.debug, "u"});
    }
    const Tensor d_c = popops::map(l_.graph, pe::_1 * (pe::Const(1.0f) - pe::_2), {dh, update}, prog, {l_.debug, "c"});
    const Tensor sum_c = l_.activation_gradient(params_.activation, c, d_c, prog),
                 sum_u = l_.activation_gradient(params_.recurrentActivation, u, d_u, prog);
    Tensor d_r, of_product, through_candidate;  // the last: of the state
    if (params_.resetAfter) {
      d_r = popops::mul(l_.graph, sum_c, kept[4], prog, {l_.debug, "r"});
      of_product = popops::mul(l_.graph, sum_c, r, prog, {l_.debug, "product"});
      through_candidate = l_.product(of_product, of_candidate_, prog, "stateGradient");
    } else {
      const Tensor d_reset = l_.product(sum_c, of_candidate_, prog, "resetGradient");
      d_r = popops::mul(l_.graph, d_reset, before, prog, {l_.debug, "r"});
      through_candidate = popops::mul(l_.graph, d_reset, r, prog, {l_.debug, "stateGradient"});
    }
    const Tensor sum_r = l_.activation_gradient(params_.recurrentActivation, r, d_r, prog);
    const Tensor through_gates = l_.product(concat(sum_r, sum_u, 1), of_gates_, prog, "stateGradient");
    popops::mapInPlace(l_.graph, pe::_1 * pe::_2 + pe::_3 + pe::_4, {dh, update, through_candidate, through_gates}, prog,
                       {l_.debug, "outputGradient"});
    if (passing.valid()) popops::addInPlace(l_.graph, dh, passing, prog, {l_.debug, "outputGradient"});
    std::vector<Tensor> gradients(kGruUnits);
    gradients[place(params_, BASIC_GRU_CELL_RESET_GATE)] = sum_r.expand({1});
    gradients[place(params_, BASIC_GRU_CELL_UPDATE_GATE)] = sum_u.expand({1});
    gradients[place(params_, BASIC_GRU_CELL_CANDIDATE)] = sum_c.expand({1});
    if (params_.resetAfter) gradients.push_back(of_product.expand({1}));
    return concat(gradients, 1);
  }

 private:
  const Layer& l_;
  const GruParams& params_;
  const StepExtras& extras_;
  Tensor of_gates_, of_candidate_;
};

std::size_t unit_gradients(const GruParams& params) { return kGruUnits + (params.resetAfter ? 1 : 0); }

}  // namespace

Tensor forward(const Layer& l, const GruParams& params, const Tensor& state, const Tensor& in, const GruWeights& weights,
               const Extras& given, Tensor* intermediates, Sequence& prog) {
  const Extras extras = with_lengths(l, params, given);
  check(l, params, state, weights, in, extras);
  const Tensor from_inputs = l.product(in.flatten(0, 2), internal::as_matrix(weights.inputWeights), prog, "inputs")
                                 .reshape({l.steps(), l.batch(), kGruUnits, l.outputs()});
  popops::addInPlace(l.graph, from_inputs, input_biases(params, weights), prog, {l.debug, "biases"});
  const Tensor h = l.copy_of(state, prog, "state");
  Tensor outputs;
  if (params.outputFullSequence) outputs = l.results({l.batch(), l.outputs()}, prog, "outputs");
  if (intermediates) *intermediates = l.results({kKept, l.batch(), l.outputs()}, prog, "intermediates");
  const StepExtras of_step(l, extras);
  ForwardStep forward_step(l, params, weights, of_step);
  l.loop(
      Layer::Order::forward, prog,
      [&](const Tensor& step, Sequence& round) {
        std::vector<Tensor> kept = forward_step.run(l.get(from_inputs, step, round, "inputs"), h, step, round);
        if (intermediates) {
          for (Tensor& t : kept) t = t.expand({0});
          l.put(*intermediates, concat(kept), step, round, "intermediates");
        }
        if (outputs.valid()) l.put(outputs, h, step, round, "outputs");
      },
      "steps");
  return outputs.valid() ? outputs : h;
}

Gradients backward(const Layer& l, const GruParams& params, const Tensor& state, const Tensor& intermediates, const GruWeights& weights,
                   const Tensor& in, const Tensor& output_gradient, const Extras& given, Tensor* in_gradient, Sequence& prog) {
  const Extras extras = with_lengths(l, params, given);
  check(l, params, state, weights, in, extras);
  l.check(intermediates, {l.steps(), kKept, l.batch(), l.outputs()}, "the intermediates");
  const bool full = params.outputFullSequence;
  l.check(output_gradient,
          full ? std::vector<std::size_t>{l.steps(), l.batch(), l.outputs()} : std::vector<std::size_t>{l.batch(), l.outputs()},
          "the output's gradient");
  Gradients out;
  out.state = full ? l.zeros_like(state, prog, "outputGradient") : l.copy_of(output_gradient, prog, "outputGradient");
  out.units = l.results({l.batch(), unit_gradients(params), l.outputs()}, prog, "unitGradients");
  if (extras.attention) out.attention = l.results({l.batch()}, prog, "attentionGradient");
  const StepExtras of_step(l, extras);
  BackwardStep backward_step(l, params, weights, of_step);
  l.loop(
      Layer::Order::backward, prog,
      [&](const Tensor& step, Sequence& round) {
        const Tensor kept = l.get(intermediates.reverse(0), step, round, "intermediates");
        if (full)
          popops::addInPlace(l.graph, out.state, l.get(output_gradient.reverse(0), step, round, "outputGradient"), round,
                             {l.debug, "outputGradient"});
        Tensor of_attention;
        l.put(out.units.reverse(0), backward_step.run(kept, out.state, step, &of_attention, round), step, round, "unitGradients");
        if (extras.attention) l.put(out.attention.reverse(0), of_attention, step, round, "attentionGradient");
      },
      "steps");
  if (extras.attention) out.attention = out.attention.transpose();
  if (in_gradient)
    *in_gradient = l.product(out.units.slice(0, kGruUnits, 2).flatten(0, 2).flatten(1, 3),
                             internal::as_matrix(weights.inputWeights).transpose(), prog, "inputGradient")
                       .reshape({l.steps(), l.batch(), l.inputs()});
  return out;
}

GruWeights update(const Layer& l, const GruParams& params, const Tensor& state, const Tensor& intermediates, const Tensor& unit_gradients_,
                  const GruWeights& weights, const Tensor& in, Sequence& prog) {
  check(l, params, state, weights, in, {});
  l.check(intermediates, {l.steps(), kKept, l.batch(), l.outputs()}, "the intermediates");
  l.check(unit_gradients_, {l.steps(), l.batch(), unit_gradients(params), l.outputs()}, "the backward intermediates");
  const Tensor kept = intermediates.dimRoll(1), of_sums = unit_gradients_.slice(0, kGruUnits, 2);
  // Of the products with the state: those of the sums, but for the candidate with resetAfter.
  std::vector<Tensor> of_products(kGruUnits), output_weights(kGruUnits);
  for (const Unit u : getDefaultBasicGruCellOrder()) {
    const std::size_t at = place(params, u);
    const bool candidate = u == BASIC_GRU_CELL_CANDIDATE, after = candidate && params.resetAfter;
    of_products[at] = after ? unit_gradients_.slice(kGruUnits, kGruUnits + 1, 2) : of_sums.slice(at, at + 1, 2);
    output_weights[at] =
        internal::weights_gradient(l, kept[candidate && !params.resetAfter ? 4 : 3], of_products[at], prog, "outputWeightsGradient");
  }
  Tensor biases = internal::biases_gradient(l, of_sums, prog);
  if (params.resetAfter) biases = concat(biases.expand({1}), internal::biases_gradient(l, concat(of_products, 2), prog).expand({1}), 1);
  return {internal::weights_gradient(l, in, of_sums, prog, "inputWeightsGradient"), concat(output_weights, 0), biases};
}

std::uint64_t getBasicGruCellFwdFlops(const GruParams& params) {
  // Each unit: products with input and state, their sum and the bias; the reset state: a product; the state: two products, a difference and
  // a sum.
  const std::uint64_t cells = internal::cells_of(params.rnn, "popnn::gru");
  return cells * (kGruUnits * (2 * params.rnn.layerSizes[0] + 2 * params.rnn.layerSizes[1] + 2) + 5);
}
std::uint64_t getBasicGruCellBwdFlops(const GruParams& params) {
  const std::uint64_t cells = internal::cells_of(params.rnn, "popnn::gru");
  const std::uint64_t inputs = params.calcInputGradients ? params.rnn.layerSizes[0] : 0;
  // Each unit: products that lead to input and state. Gradients of u and c: two products and two differences; of the reset state: two
  // products; of the state: a product and two sums.
  return cells * (kGruUnits * (2 * inputs + 2 * params.rnn.layerSizes[1]) + 9);
}
std::uint64_t getBasicGruCellWuFlops(const GruParams& params) {
  const std::uint64_t cells = internal::cells_of(params.rnn, "popnn::gru");
  return cells * kGruUnits * (2 * params.rnn.layerSizes[0] + 2 * params.rnn.layerSizes[1] + 1);
}

}  // namespace popnn::gru
