// Several convolutions at a time: their vertices are in the same compute sets.
#include "poplibs/poplin/conv/convolve.h"
#include "poplibs/poplin/conv/update.h"
#include "poplibs/poputil/reject.h"

#include <poplin/ConvUtil.hpp>
#include <poplin/MultiConvolution.hpp>
#include <poputil/exceptions.hpp>

#include <fmt/format.h>

namespace poplin {
namespace multiconv {

using conv::Convolution;
using conv::Kind;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;

namespace {

const CreateTensorArgs& at(const std::vector<CreateTensorArgs>& args, unsigned index, const char* function) {
  if (index >= args.size()) poputil::reject("no-such-convolution", "{}: convolution {} of {}", function, index, args.size());
  return args[index];
}

// Options that are about the programs of all convolutions, not about one of them.
template <class Args>
void expect_common_options(const std::vector<Args>& args, const char* function) {
  constexpr const char* kCommon = "insertTransformsCycleCountProgs";
  const auto value = [&](const OptionFlags& options) { return options.contains(kCommon) && options.at(kCommon) == "true"; };
  for (const Args& a : args)
    if (value(a.options) != value(args.front().options))
      poputil::reject("options-differ", "{}: the option {} is not the same for all convolutions", function, kCommon);
}

std::vector<Tensor> gradients(Graph& graph, const std::vector<CalculateWeightDeltasArgs>& args, Sequence& prog, const DebugContext& context,
                              const OptionFlags& options, PlanningCache* cache) {
  conv::check_multi_options(options);
  expect_common_options(args, "multiconv::calculateWeightDeltas");
  conv::Stages stages(graph, context);
  std::vector<Tensor> out;
  for (const CalculateWeightDeltasArgs& a : args) {
    Convolution c(graph, a.params, Kind::weight_gradient, false, a.options, cache);
    c.begin_where_room_is(graph, 0);
    conv::expect_input(a.activations, a.params, "multiconv::calculateWeightDeltas");
    const Tensor deltas = conv::expect_deltas(graph, a.zDeltas, a.params, prog, context, "multiconv::calculateWeightDeltas");
    out.push_back(conv::weight_gradient(graph, c, deltas, a.activations, stages, prog, context));
  }
  stages.add_to(prog);
  return out;
}

template <class Args>
std::vector<Tensor> gradients_of(Graph& graph, const std::vector<Args>& args, Sequence& prog, const DebugContext& context,
                                 const OptionFlags& options, PlanningCache* cache) {
  std::vector<CalculateWeightDeltasArgs> parts;
  for (const Args& a : args) parts.push_back({a.zDeltas, a.activations, a.params, a.options});
  return gradients(graph, parts, prog, context, options, cache);
}

}  // namespace

Tensor createWeights(Graph& graph, const std::vector<CreateTensorArgs>& args, unsigned index, const OptionFlags& options,
                     PlanningCache* cache) {
  conv::check_multi_options(options);
  const CreateTensorArgs& a = at(args, index, "multiconv::createWeights");
  return poplin::createWeights(graph, a.params, a.name, a.options, cache);
}

Tensor createInput(Graph& graph, const std::vector<CreateTensorArgs>& args, unsigned index, const OptionFlags& options,
                   PlanningCache* cache) {
  conv::check_multi_options(options);
  const CreateTensorArgs& a = at(args, index, "multiconv::createInput");
  return poplin::createInput(graph, a.params, a.name, a.options, cache);
}

void weightsTransposeChansFlipXY(Graph& graph, std::vector<ConvolutionArgs>& args, const std::vector<Tensor>& weights, Sequence& prog,
                                 const OptionFlags& options, const DebugContext& context, PlanningCache* cache) {
  conv::check_multi_options(options);
  if (weights.size() != args.size())
    poputil::reject("weights-count", "multiconv::weightsTransposeChansFlipXY: {} weights for {} convolutions", weights.size(), args.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    args[i].weights = poplin::createWeights(graph, args[i].params, DebugContext(context, "weights"), args[i].options, cache);
    poplin::weightsTransposeChansFlipXY(graph, weights[i], args[i].weights, prog, context, args[i].options);
  }
}

std::vector<Tensor> convolution(Graph& graph, const std::vector<ConvolutionArgs>& args, bool transposed, Sequence& prog,
                                const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  conv::check_multi_options(options);
  expect_common_options(args, "multiconv::convolution");
  conv::Stages stages(graph, context);
  std::vector<Tensor> out;
  for (const ConvolutionArgs& a : args) {
    Convolution c(graph, a.params, Kind::forward, transposed, a.options, cache);
    conv::expect_input(a.inputs, a.params, "multiconv::convolution");
    conv::expect_weights(a.weights, a.params, transposed, "multiconv::convolution");
    c.begin_at(graph, a.weights);
    out.push_back(conv::make_output(graph, a.params, c.problem, c.partition, DebugContext(context, "output")));
    conv::convolve_into(graph, c, a.inputs, a.weights, transposed, out.back(), stages, prog, context);
  }
  stages.add_to(prog);
  return out;
}

std::vector<Tensor> calculateWeightDeltas(Graph& graph, const std::vector<CalculateWeightDeltasArgs>& args, Sequence& prog,
                                          const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  return gradients(graph, args, prog, context, options, cache);
}

void convolutionWeightUpdate(Graph& graph, const std::vector<ConvWeightUpdateArgs>& args, Sequence& prog, const DebugContext& context,
                             const OptionFlags& options, PlanningCache* cache) {
  for (const ConvWeightUpdateArgs& a : args) conv::expect_weights(a.weights, a.params, false, "multiconv::convolutionWeightUpdate");
  const std::vector<Tensor> deltas = gradients_of(graph, args, prog, context, options, cache);
  for (std::size_t i = 0; i < args.size(); ++i)
    conv::add_scaled(graph, args[i].weights, deltas[i], args[i].scale, prog, DebugContext(context, "update"));
}

void convolutionWeightUpdate(Graph& graph, const std::vector<ConvWeightUpdateArgsScalar>& args, Sequence& prog, const DebugContext& context,
                             const OptionFlags& options, PlanningCache* cache) {
  for (const ConvWeightUpdateArgsScalar& a : args) conv::expect_weights(a.weights, a.params, false, "multiconv::convolutionWeightUpdate");
  const std::vector<Tensor> deltas = gradients_of(graph, args, prog, context, options, cache);
  for (std::size_t i = 0; i < args.size(); ++i)
    conv::add_scaled(graph, args[i].weights, deltas[i], conv::scale_of(graph, args[i].scale), prog, DebugContext(context, "update"));
}

}  // namespace multiconv
}  // namespace poplin
