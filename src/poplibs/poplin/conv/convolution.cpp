#include "poplibs/poplin/conv/build.h"
#include "poplibs/poplin/conv/convolve.h"
#include "poplibs/poplin/conv/method.h"
#include "poplibs/poputil/reject.h"

#include <pando/mapping.hpp>
#include <pando/placing.hpp>
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MultiConvolution.hpp>
#include <poputil/exceptions.hpp>

#include <fmt/format.h>

#include <functional>
#include <numeric>

namespace poplin {

namespace conv {
namespace {

using poplar::program::Copy;

// What a vertex of a convolution takes beside its operands, roughly: state, and code that brings them.
constexpr std::size_t kVertexBytes = 256;

// Zeros what `view` leaves out of dimension `dim` of `t`, beyond [begin, begin + size).
void zero_beyond(poplar::Graph& graph, const Tensor& t, unsigned dim, std::size_t begin, std::size_t size, Sequence& prog) {
  for (const Tensor& rim : {t.slice(0, begin, dim), t.slice(begin + size, t.dim(dim), dim)}) {
    if (rim.numElements() == 0) continue;
    const Tensor zero = graph.addConstant(t.elementType(), {1}, 0);
    graph.setTileMapping(zero, 0);
    prog.add(Copy(zero.broadcast(static_cast<unsigned>(rim.numElements()), 0), rim.flatten()));
  }
}

}  // namespace

Convolution::Convolution(poplar::Graph& graph, const ConvParams& params, Kind kind, bool flipped, const poplar::OptionFlags& flags,
                         PlanningCache* cache)
    : params(params), problem(problem_of(params, flipped)), options(parse_options(flags)) {
  const Call call{graph.getTarget(), problem, options, kind, cache};
  method = &method_for(call);
  partition = method->partition(call);
}

// The plan's tiles, with an equal part of the bytes each.
void Convolution::begin_where_room_is(const poplar::Graph& graph, std::size_t elements) {
  const auto tiles = static_cast<std::int64_t>(graph.getTarget().getNumTiles());
  if (!method->is_on_tiles || tiles == 1) return;
  const std::int64_t used = std::min(tiles, partition.blocks());
  const std::size_t bytes = elements * graph.getTarget().getTypeSize(params.inputType) / static_cast<std::size_t>(used) + kVertexBytes;
  std::vector<pando::TileBytes> form;
  for (std::int64_t i = 0; i < used; ++i) form.push_back({static_cast<unsigned>((partition.first + i) % tiles), bytes});
  partition.first = (partition.first + pando::choose_rotation(graph, form)) % tiles;
}

void Convolution::begin_at(const poplar::Graph& graph, const Tensor& weights) {
  const auto tiles = static_cast<std::int64_t>(graph.getTarget().getNumTiles());
  if (!method->is_on_tiles || tiles == 1 || weights.numElements() == 0) return;
  // Of weights of this plan the first element is the first block's, the last one the last one's.
  const std::vector<pando::TileInterval> first = pando::tile_intervals(graph, weights.flatten().slice(0, 1)),
                                         last = pando::tile_intervals(
                                             graph, weights.flatten().slice(weights.numElements() - 1, weights.numElements()));
  const bool is_planned = !first.empty() && !last.empty() && (first[0].tile + partition.blocks() - 1) % tiles == last[0].tile;
  if (!is_planned) return begin_where_room_is(graph, 0);
  partition.first = first[0].tile;
}

void convolve_into(poplar::Graph& graph, const Convolution& c, const Tensor& in, const Tensor& weights, bool transposed, const Tensor& out,
                   Stages& stages, Sequence& before, const DebugContext& context, const FinishViews* finish) {
  for (unsigned d = 0; d < c.params.getNumFieldDims(); ++d)
    zero_beyond(graph, out, 2 + d, c.params.outputTransform.paddingLower[d], static_cast<std::size_t>(c.problem.lines[d].out), before);
  const OperandViews operands{input_view(in, c.params, c.problem), weights, output_view(out, c.params, c.problem), transposed};
  c.method->run(graph, c, operands, stages, before, context, finish);
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

namespace {

std::size_t product_of(const std::vector<std::size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies<>());
}

Tensor counted(Graph& graph, const Tensor& made) {
  pando::count_as_created(graph, made);
  return made;
}

}  // namespace

Tensor createInput(Graph& graph, const ConvParams& params, const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  Convolution c(graph, params, Kind::forward, false, options, cache);
  const DebugContext name(context, "input");
  c.begin_where_room_is(graph, params.batchSize * params.getNumInputChans() * product_of(params.inputFieldShape));
  return counted(graph, c.method->create_input(graph, c, name));
}

Tensor createWeights(Graph& graph, const ConvParams& params, const DebugContext& context, const OptionFlags& options,
                     PlanningCache* cache) {
  Convolution c(graph, params, Kind::forward, false, options, cache);
  c.begin_where_room_is(graph, params.getNumOutputChans() * params.getNumInputChansPerConvGroup() * product_of(params.kernelShape));
  return counted(graph, conv::make_weights(graph, params, c.problem, c.partition, DebugContext(context, "weights")));
}

Tensor createConvOutput(Graph& graph, const ConvParams& params, const DebugContext& context, const OptionFlags& options,
                        PlanningCache* cache) {
  Convolution c(graph, params, Kind::forward, false, options, cache);
  c.begin_where_room_is(graph, params.batchSize * params.getNumOutputChans() * product_of(params.getOutputFieldShape()));
  return counted(graph, conv::make_output(graph, params, c.problem, c.partition, DebugContext(context, "output")));
}

Tensor convolution(Graph& graph, const Tensor& in, const Tensor& weights, const ConvParams& params, bool transposed, Sequence& prog,
                   const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  Convolution c(graph, params, Kind::forward, transposed, options, cache);
  conv::expect_input(in, params, "convolution");
  conv::expect_weights(weights, params, transposed, "convolution");
  c.begin_at(graph, weights);
  const Tensor out = conv::make_output(graph, params, c.problem, c.partition, DebugContext(context, "output"));
  conv::Stages stages(graph, context);
  conv::convolve_into(graph, c, in, weights, transposed, out, stages, prog, context);
  stages.add_to(prog);
  return out;
}

void convolutionWithOutput(Graph& graph, const Tensor& in, const Tensor& weights, const Tensor& out, const ConvParams& params,
                           bool transposed, Sequence& prog, const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  Convolution c(graph, params, Kind::forward, transposed, options, cache);
  conv::expect_input(in, params, "convolutionWithOutput");
  conv::expect_weights(weights, params, transposed, "convolutionWithOutput");
  c.begin_at(graph, weights);
  conv::expect_output(out, params, "convolutionWithOutput");
  if (!out.isParallelWriteable())
    poputil::reject("output-not-writable", "convolutionWithOutput: the output has elements that are aliased or constant");
  conv::Stages stages(graph, context);
  conv::convolve_into(graph, c, in, weights, transposed, out, stages, prog, context);
  stages.add_to(prog);
}

Tensor calculateWeightDeltas(Graph& graph, const Tensor& zDeltas, const Tensor& activations, const ConvParams& params, Sequence& prog,
                             const DebugContext& context, const OptionFlags& options, PlanningCache* cache) {
  Convolution c(graph, params, Kind::weight_gradient, false, options, cache);
  c.begin_where_room_is(graph, 0);
  conv::expect_input(activations, params, "calculateWeightDeltas");
  const Tensor deltas = conv::expect_deltas(graph, zDeltas, params, prog, context, "calculateWeightDeltas");
  conv::Stages stages(graph, context);
  const Tensor out = conv::weight_gradient(graph, c, deltas, activations, stages, prog, context);
  stages.add_to(prog);
  return out;
}

}  // namespace poplin
