#include "steps.h"
#include "poplibs/poputil/reject.h"
#include "shards.h"

#include <popnn/NonLinearity.hpp>
#include <popops/Cast.hpp>
#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Loop.hpp>
#include <popops/Reduce.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

namespace popnn::internal {

using namespace poplar;
using program::Sequence;
namespace pe = popops::expr;

OptionFlags of_products(const OptionFlags& options) {
  OptionFlags out;
  for (const char* name : {"partialsType", "availableMemoryProportion"})
    if (options.contains(name)) out.set(name, options.at(name));
  return out;
}

std::uint64_t cells_of(const rnn::RnnParams& params, const std::string& where) {
  rnn::internal::check_layer_sizes(params, where);
  return std::uint64_t{params.maxTimeSteps} * params.batchSize * params.layerSizes[1];
}

Layer::Layer(Graph& graph_, const rnn::RnnParams& params_, const DebugContext& debug_, const OptionFlags& options,
             poplin::PlanningCache* cache_, const char* where_)
    : graph(graph_), params(params_), debug(debug_), products(of_products(options)), cache(cache_), where(where_) {
  rnn::internal::check_parameters(params, where);
}

Tensor Layer::product(const Tensor& a, const Tensor& b, Sequence& prog, const char* name) const {
  return poplin::matMul(graph, a, b, prog, params.dataType, {debug, name}, products, cache);
}

Tensor Layer::sequence(const std::vector<std::size_t>& shape, const char* name) const {
  std::vector<std::size_t> full = {steps()};
  full.insert(full.end(), shape.begin(), shape.end());
  return popops::createSliceableTensor(graph, params.dataType, full, {0}, {1}, 0, {debug, name});
}

Tensor Layer::results(const std::vector<std::size_t>& shape, Sequence& prog, const char* name) const {
  const Tensor t = sequence(shape, name);
  if (params.variableTimeSteps()) popops::zero(graph, t, prog, {debug, name});
  return t;
}

Tensor Layer::state(const char* name) const {
  const Tensor t = graph.addVariable(params.dataType, {batch(), outputs()}, {debug, name});
  poputil::mapTensorLinearly(graph, t);
  return t;
}

Tensor Layer::copy_of(const Tensor& t, Sequence& prog, const char* name) const {
  const Tensor copy = graph.clone(t, {debug, name});
  prog.add(program::Copy(t, copy, false, {debug, name}));
  return copy;
}

Tensor Layer::zeros_like(const Tensor& t, Sequence& prog, const char* name) const {
  const Tensor zeros = graph.clone(t, {debug, name});
  popops::zero(graph, zeros, prog, {debug, name});
  return zeros;
}

Tensor Layer::get(const Tensor& sequence, const Tensor& index, Sequence& prog, const char* name) const {
  return popops::dynamicSlice(graph, sequence, index, {0}, {1}, prog, {debug, name})[0];
}

void Layer::put(const Tensor& sequence, const Tensor& step, const Tensor& index, Sequence& prog, const char* name) const {
  popops::dynamicUpdate(graph, sequence, step.expand({0}), index, {0}, {1}, prog, {debug, name});
}

namespace {

// The number of a step of which placeholder `at` is the number in the order of a loop.
pe::Any number_of(const Layer& l, Layer::Order order, const pe::PlaceHolder& at) {
  if (order == Layer::Order::forward) return pe::Any(at);
  return pe::Any(pe::Const(static_cast<int>(l.steps()) - 1) - at);
}

}  // namespace

void Layer::loop(Order order, Sequence& prog, const std::function<void(const Tensor&, Sequence&)>& body, const char* name) const {
  Tensor longest;
  if (params.variableTimeSteps())
    longest = popops::reduce(graph, popops::cast(graph, params.varTimeSteps, INT, prog, {debug, "lengths"}), {0}, {popops::Operation::MAX},
                             prog, {debug, "longest"});
  prog.add(popops::countedLoop(graph, steps(),
                               [&](const Tensor& index) {
                                 Sequence round;
                                 body(index, round);
                                 if (!longest.valid()) return program::Program(round);
                                 Sequence guarded;
                                 const Tensor goes_on = popops::map(graph, pe::Lt(number_of(*this, order, pe::_1), pe::_2),
                                                                    {index.reinterpret(INT).reshape({}), longest}, guarded, {debug, name});
                                 guarded.add(program::If(goes_on, round, Sequence(), {debug, name}));
                                 return program::Program(guarded);
                               },
                               {debug, name}));
}

Tensor Layer::counts(const Tensor& lengths, Order order, const Tensor& step, Sequence& prog) const {
  const Tensor counts = popops::map(graph, pe::Cast(pe::Lt(number_of(*this, order, pe::_2), pe::_1), params.dataType),
                                    {lengths.reinterpret(INT), step.reinterpret(INT)}, prog, {debug, "counts"});
  return counts.expand({1}).broadcast(static_cast<unsigned>(outputs()), 1);
}

Tensor Layer::activated(NonLinearityType type, const Tensor& t, Sequence& prog) const {
  return nonLinearity(graph, type, t, prog, {debug, "activation"});
}

Tensor Layer::activation_gradient(NonLinearityType type, const Tensor& result, const Tensor& gradient, Sequence& prog) const {
  return nonLinearityInputGradient(graph, type, result, gradient, prog, {debug, "activationGradient"});
}

void Layer::check(const Tensor& t, const std::vector<std::size_t>& shape, const char* what) const {
  if (t.valid() && t.shape() == shape && t.elementType() == params.dataType) return;
  std::string text;
  for (const std::size_t d : shape) text += (text.empty() ? "" : ",") + std::to_string(d);
  poputil::reject("operand", "{}",
                  where + ": " + what + " is " +
                      (t.valid() ? t.elementType().toString() + " " + t.shapeToString() : std::string("an invalid tensor")) +
                      "; expected " + params.dataType.toString() + " {" + text + "}");
}

Tensor as_matrix(const Tensor& weights) { return weights.dimShuffle({1, 0, 2}).reshape({weights.dim(1), weights.dim(0) * weights.dim(2)}); }

Tensor by_unit(const Tensor& matrix, std::size_t units) {
  return matrix.reshape({matrix.dim(0), units, matrix.dim(1) / units}).dimShuffle({1, 0, 2});
}

Tensor weights_gradient(const Layer& layer, const Tensor& in, const Tensor& unit_gradients, Sequence& prog, const char* name) {
  const Tensor rows = in.flatten(0, 2).transpose(), columns = unit_gradients.flatten(0, 2).flatten(1, 3);
  return by_unit(layer.product(rows, columns, prog, name), unit_gradients.dim(2));
}

Tensor biases_gradient(const Layer& layer, const Tensor& unit_gradients, Sequence& prog) {
  return popops::reduce(layer.graph, unit_gradients.flatten(0, 2), layer.params.dataType, {0}, popops::Operation::ADD, prog,
                        {layer.debug, "biasesGradient"});
}

Tensor states_before(const Tensor& initial, const Tensor& outputs) {
  return concat(initial.expand({0}), outputs.slice(0, outputs.dim(0) - 1, 0), 0);
}

}  // namespace popnn::internal
