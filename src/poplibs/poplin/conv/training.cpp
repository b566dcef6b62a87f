// What training does beside convolutions: biases, and updates of weights.
#include "poplibs/poplin/conv/convolve.h"
#include "poplibs/poplin/conv/update.h"
#include "poplibs/poplin/per_channel.h"
#include "poplibs/poputil/reject.h"

#include <poplin/Convolution.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <poputil/exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace poplin {

namespace pe = popops::expr;
using conv::Convolution;
using conv::Kind;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;
using poputil::poplibs_error;

namespace {

void expect_biases(const Tensor& acts, const Tensor& biases, const char* function) {
  if (acts.rank() < 2)
    poputil::reject("activations-shape", "{}: activations of shape {{{}}}, expected {{batch, channels, field...}}", function,
                    fmt::join(acts.shape(), ","));
  if (biases.rank() != 1 || biases.dim(0) != acts.dim(1))
    poputil::reject("biases-shape", "{}: biases of shape {{{}}}, expected {{{}}}", function, fmt::join(biases.shape(), ","), acts.dim(1));
}

void expect_scale(const Tensor& scale, const char* function) {
  if (scale.numElements() != 1) poputil::reject("scale-shape", "{}: a scale of {} elements, expected 1", function, scale.numElements());
}

Tensor constant(Graph& graph, float value) {
  const Tensor t = graph.addConstant(poplar::FLOAT, {}, value);
  graph.setTileMapping(t, 0);
  return t;
}

// The scale in float, of rank 0.
Tensor float_scale(Graph& graph, const Tensor& scale, Sequence& prog, const DebugContext& context) {
  const Tensor scalar = scale.reshape({});
  return scalar.elementType() == poplar::FLOAT ? scalar : popops::map(graph, pe::Cast(pe::_1, poplar::FLOAT), {scalar}, prog, context);
}

}  // namespace

namespace conv {

void add_scaled(Graph& graph, const Tensor& to, const Tensor& deltas, const Tensor& scale, Sequence& prog, const DebugContext& context) {
  expect_scale(scale, "convolutionWeightUpdate");
  const Tensor factor = float_scale(graph, scale, prog, context);
  if (to.elementType() == poplar::FLOAT && deltas.elementType() == poplar::FLOAT)
    popops::mapInPlace(graph, pe::Add(pe::_1, pe::Mul(pe::_2, pe::_3)), {to, deltas, factor}, prog, context);
  else
    popops::mapInPlace(
        graph, pe::Cast(pe::Add(pe::Cast(pe::_1, poplar::FLOAT), pe::Mul(pe::Cast(pe::_2, poplar::FLOAT), pe::_3)), to.elementType()),
        {to, deltas, factor}, prog, context);
}

Tensor scale_of(Graph& graph, float scale) { return constant(graph, scale); }

}  // namespace conv

Tensor createBiases(Graph& graph, const Tensor& acts, const DebugContext& context) {
  if (acts.rank() < 2)
    poputil::reject("activations-shape", "createBiases: activations of shape {{{}}}, expected {{batch, channels, field...}}",
                    fmt::join(acts.shape(), ","));
  return internal::create_per_channel(graph, acts, acts.elementType(), context);
}

Tensor createBiases(Graph& graph, const Tensor& acts, const ConvParams& params, const DebugContext& context, const OptionFlags& options,
                    PlanningCache*) {
  conv::parse_options(options);
  conv::expect_output(acts, params, "createBiases");
  return createBiases(graph, acts, context);
}

void addBias(Graph& graph, const Tensor& in, const Tensor& biases, Sequence& prog, const DebugContext& context) {
  expect_biases(in, biases, "addBias");
  if (!in.isParallelWriteable())
    poputil::reject("activations-not-writable", "addBias: the activations have elements that are aliased or constant");
  popops::mapInPlace(graph, pe::Add(pe::_1, pe::_2), {in, internal::per_channel(biases, in)}, prog, DebugContext(context, "addBias"));
}

void convolutionBiasUpdate(Graph& graph, const Tensor& deltas, const Tensor& biases, const Tensor& scale, const OptionFlags& options,
                           Sequence& prog, const DebugContext& context) {
  conv::parse_options(options);
  expect_biases(deltas, biases, "convolutionBiasUpdate");
  expect_scale(scale, "convolutionBiasUpdate");
  const Tensor sums = popops::reduce(graph, deltas, poplar::FLOAT, internal::all_but_channels(deltas), popops::Operation::ADD, prog,
                                     DebugContext(context, "sums"));
  conv::add_scaled(graph, biases, sums, scale, prog, DebugContext(context, "update"));
}

void convolutionBiasUpdate(Graph& graph, const Tensor& deltas, const Tensor& biases, float scale, const OptionFlags& options,
                           Sequence& prog, const DebugContext& context) {
  convolutionBiasUpdate(graph, deltas, biases, constant(graph, scale), options, prog, context);
}

void convolutionWeightUpdate(Graph& graph, const Tensor& deltas, const Tensor& weights, const Tensor& activations, ConvParams params,
                             const Tensor& scale, Sequence& prog, const DebugContext& context, const OptionFlags& options,
                             PlanningCache* cache) {
  conv::expect_weights(weights, params, false, "convolutionWeightUpdate");
  const Tensor gradient = calculateWeightDeltas(graph, deltas, activations, params, prog, context, options, cache);
  conv::add_scaled(graph, weights, gradient, scale, prog, DebugContext(context, "update"));
}

void convolutionWeightUpdate(Graph& graph, const Tensor& deltas, const Tensor& weights, const Tensor& activations, ConvParams params,
                             float scale, Sequence& prog, const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  convolutionWeightUpdate(graph, deltas, weights, activations, params, constant(graph, scale), prog, context, options, cache);
}

}  // namespace poplin
