#include "poplibs/poplin/conv/arrangement.h"
#include "poplibs/poplin/conv/build.h"
#include "poplibs/poplin/conv/convolve.h"
#include "poplibs/poplin/conv/cpu_rows.h"
#include "poplibs/poputil/refuse.h"

#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MultiConvolution.hpp>
#include <poputil/exceptions.hpp>

#include <fmt/format.h>

namespace poplin {

namespace conv {
namespace {

using poplar::program::Copy;

// Zeros what `view` leaves out of dimension `dim` of `t`, beyond [begin, begin + size).
void zero_beyond(poplar::Graph& graph, const Tensor& t, unsigned dim, std::size_t begin, std::size_t size, Sequence& prog) {
  for (const Tensor& rim : {t.slice(0, begin, dim), t.slice(begin + size, t.dim(dim), dim)}) {
    if (rim.numElements() == 0) continue;
    const Tensor zero = graph.addConstant(t.elementType(), {1}, 0);
    graph.setTileMapping(zero, 0);
    prog.add(Copy(zero.broadcast(static_cast<unsigned>(rim.numElements()), 0), rim.flatten()));
  }
}

// The weights as blocks want them. Where many blocks share weights that lie in another order, these are put in order once for all.
Tensor weights_for(poplar::Graph& graph, const Convolution& c, const Tensor& weights, bool transposed, Sequence& before,
                   const DebugContext& context) {
  constexpr std::int64_t kManyBlocks = 4;
  const Tensor view = weights_view(weights, c.params, c.problem, transposed);
  const Partition& cut = c.partition;
  const bool as_it_is = graph.getTarget().getNumTiles() == 1 || cut.batch * cut.field_blocks() < kManyBlocks ||
                        arrangement_of_weights(view).order == kChannelsLast;
  if (as_it_is) return view;
  const Tensor own = weights_view(make_weights(graph, c.params, c.problem, cut, DebugContext(context, "arranged")), c.params, c.problem);
  before.add(Copy(view, own, false, context));
  return own;
}

}  // namespace

Convolution::Convolution(poplar::Graph& graph, const ConvParams& params, Kind kind, bool flipped, const poplar::OptionFlags& flags,
                         PlanningCache* cache)
    : params(params),
      problem(problem_of(params, flipped)),
      options(parse_options(flags)),
      in_rows(kind == Kind::forward && is_in_rows(problem, options, graph.getTarget())) {
  if (in_rows)
    partition.field.assign(problem.lines.size(), 1);
  else
    partition = plan_for(graph.getTarget(), options, problem, kind, cache).partition;
}

void convolve_into(poplar::Graph& graph, const Convolution& c, const Tensor& in, const Tensor& weights, bool transposed, const Tensor& out,
                   Stages& stages, Sequence& before, const DebugContext& context, const FinishViews* finish) {
  for (unsigned d = 0; d < c.params.getNumFieldDims(); ++d)
    zero_beyond(graph, out, 2 + d, c.params.outputTransform.paddingLower[d], static_cast<std::size_t>(c.problem.lines[d].out), before);
  const Tensor image = input_view(in, c.params, c.problem), result = output_view(out, c.params, c.problem);
  if (c.in_rows)
    convolve_in_rows(graph, c.problem, c.options, image, weights_view(weights, c.params, c.problem, transposed), result, stages.at(0),
                     before, stages.after(), context, finish);
  else
    build_forward(graph, c.problem, c.options, c.partition, image, weights_for(graph, c, weights, transposed, before, context), result,
                  stages, context, finish);
}

Tensor weight_gradient(poplar::Graph& graph, const Convolution& c, const Tensor& deltas, const Tensor& in, Stages& stages, Sequence& before,
                       const DebugContext& context) {
  const Tensor out = make_weight_gradient(graph, c.params, c.problem, c.partition, DebugContext(context, "weightDeltas"));
  for (unsigned d = 0; d < c.params.getNumFieldDims(); ++d)
    zero_beyond(graph, out, 3 + d, c.params.kernelTransform.truncationLower[d], static_cast<std::size_t>(c.problem.lines[d].taps), before);
  build_weight_gradient(graph, c.problem, c.options, c.partition, input_view(in, c.params, c.problem),
                        output_view(deltas, c.params, c.problem), weights_view(out, c.params, c.problem), stages, context);
  return out;
}

}  // namespace conv

using conv::Convolution;
using conv::Kind;
using poplar::DebugContext;
using poplar::Graph;
using poplar::OptionFlags;
using poplar::Tensor;
using poplar::program::Sequence;

Tensor createInput(Graph& graph, const ConvParams& params, const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  const Convolution c(graph, params, Kind::forward, false, options, cache);
  return c.in_rows ? conv::make_image(graph, params, DebugContext(context, "input"))
                   : conv::make_input(graph, params, c.problem, c.partition, DebugContext(context, "input"));
}

Tensor createWeights(Graph& graph, const ConvParams& params, const DebugContext& context, const OptionFlags& options,
                     PlanningCache* cache) {
  const Convolution c(graph, params, Kind::forward, false, options, cache);
  return conv::make_weights(graph, params, c.problem, c.partition, DebugContext(context, "weights"));
}

Tensor createConvOutput(Graph& graph, const ConvParams& params, const DebugContext& context, const OptionFlags& options,
                        PlanningCache* cache) {
  const Convolution c(graph, params, Kind::forward, false, options, cache);
  return conv::make_output(graph, params, c.problem, c.partition, DebugContext(context, "output"));
}

Tensor convolution(Graph& graph, const Tensor& in, const Tensor& weights, const ConvParams& params, bool transposed, Sequence& prog,
                   const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  const Convolution c(graph, params, Kind::forward, transposed, options, cache);
  conv::expect_input(in, params, "convolution");
  conv::expect_weights(weights, params, transposed, "convolution");
  const Tensor out = conv::make_output(graph, params, c.problem, c.partition, DebugContext(context, "output"));
  conv::Stages stages(graph, context);
  conv::convolve_into(graph, c, in, weights, transposed, out, stages, prog, context);
  stages.add_to(prog);
  return out;
}

void convolutionWithOutput(Graph& graph, const Tensor& in, const Tensor& weights, const Tensor& out, const ConvParams& params,
                           bool transposed, Sequence& prog, const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  const Convolution c(graph, params, Kind::forward, transposed, options, cache);
  conv::expect_input(in, params, "convolutionWithOutput");
  conv::expect_weights(weights, params, transposed, "convolutionWithOutput");
  conv::expect_output(out, params, "convolutionWithOutput");
  if (!out.isParallelWriteable())
    poputil::refuse("output-not-writable", "convolutionWithOutput: the output has elements that are aliased or constant");
  conv::Stages stages(graph, context);
  conv::convolve_into(graph, c, in, weights, transposed, out, stages, prog, context);
  stages.add_to(prog);
}

Tensor calculateWeightDeltas(Graph& graph, const Tensor& zDeltas, const Tensor& activations, const ConvParams& params, Sequence& prog,
                             const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  const Convolution c(graph, params, Kind::weight_gradient, false, options, cache);
  conv::expect_input(activations, params, "calculateWeightDeltas");
  const Tensor deltas = conv::expect_deltas(graph, zDeltas, params, prog, context, "calculateWeightDeltas");
  conv::Stages stages(graph, context);
  const Tensor out = conv::weight_gradient(graph, c, deltas, activations, stages, prog, context);
  stages.add_to(prog);
  return out;
}

}  // namespace poplin
