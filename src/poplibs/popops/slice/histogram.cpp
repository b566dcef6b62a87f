#include <algorithm>
#include <cmath>

#include <popops/GatherStatistics.hpp>
#include <poputil/OptionParsing.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/Util.hpp>

#include "poplibs/popops/slice/slice_args.h"
#include "poplibs/popops/slice/table.h"

namespace popops {

using namespace poplar;
using internal::slice_error;
using program::Execute;
using program::Sequence;

namespace {

bool parse_float_arithmetic(const OptionFlags& options) {
  bool use_float = true;
  const poplibs::OptionSpec spec{{"useFloatArithmetic", poplibs::OptionHandler::createWithBool(use_float)}};
  for (const auto& option : options) spec.parse(option.first, option.second);
  return use_float;
}

void check(const Tensor& input, const Tensor& levels) {
  if (input.elementType() != FLOAT && input.elementType() != HALF)
    slice_error("histogram", "the input is " + input.elementType().toString() + ", expected float or half");
  if (levels.elementType() != input.elementType() || levels.rank() != 1)
    slice_error("histogram", "levels are " + levels.elementType().toString() + ' ' + internal::text(levels.shape()) + ", expected " +
                                 input.elementType().toString() + " of one dimension");
}

// Where to count: where the elements are, or evenly if that leaves too many tiles idle.
Graph::TileToTensorMapping mapping_of(const Graph& graph, const Tensor& flat) {
  auto own = graph.getTileMapping(flat);
  std::size_t used = 0;
  for (const auto& tile : own) used += !tile.empty();
  auto even = poputil::calcLinearTileMapping(graph, flat);
  std::size_t possible = 0;
  for (const auto& tile : even) possible += !tile.empty();
  return used * 10 >= possible * 9 ? own : even;
}

// Counts of all vertices: [vertices * bins].
Tensor partial_counts(Graph& graph, const Tensor& flat, const Tensor& levels, bool absolute, Sequence& prog, const DebugContext& debug) {
  const ComputeSet cs = graph.addComputeSet({debug, "count"});
  const std::string vertex = "popops::Histogram<" + flat.elementType().toString() + ">";
  const auto mapping = mapping_of(graph, flat);
  const std::size_t bins = levels.numElements() + 1;
  std::vector<Tensor> partials;
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    if (mapping[tile].empty()) continue;
    const auto regions = graph.getSortedContiguousRegions(flat, mapping[tile]);
    for (const auto& part : poputil::splitRegionsBetweenWorkers(graph.getTarget(), regions, 4, 64)) {
      const Tensor counts = graph.addVariable(UNSIGNED_INT, {bins}, {debug, "counts"});
      graph.setTileMapping(counts, tile);
      const VertexRef v = graph.addVertex(cs, vertex);
      graph.connect(v["data"], flat.slices(part));
      graph.connect(v["levels"], levels);
      graph.connect(v["counts"], counts);
      graph.setInitialValue(v["absolute"], absolute);
      graph.setTileMapping(v, tile);
      partials.push_back(counts);
    }
  }
  prog.add(Execute(cs, {debug}));
  return concat(partials);
}

void add_sum(Graph& graph, ComputeSet cs, const Tensor& partials, const Tensor& out, bool update, unsigned tile) {
  const VertexRef v =
      graph.addVertex(cs, "popops::HistogramSum<" + out.elementType().toString() + ">", {{"partials", partials}, {"out", out}});
  graph.setInitialValue(v["update"], update);
  graph.setTileMapping(v, tile);
}

}  // namespace

void histogram(Graph& graph, const Tensor& input, Tensor& output, bool updateOutput, const Tensor& levels, bool absoluteOfInput,
               Sequence& prog, const DebugContext& debugContext, const OptionFlags& options) {
  parse_float_arithmetic(options);
  check(input, levels);
  const std::size_t bins = levels.numElements() + 1;
  if (output.shape() != internal::Dims{bins} || (output.elementType() != FLOAT && output.elementType() != UNSIGNED_INT))
    slice_error("histogram", "the output is " + output.elementType().toString() + ' ' + internal::text(output.shape()) +
                                 ", expected float or unsigned int " + internal::text({bins}));
  if (!output.isParallelWriteable()) slice_error("histogram", "the output holds constants, or an element twice");
  const DebugContext debug(debugContext, "histogram");
  Tensor partials;
  if (input.numElements() == 0) {
    partials = graph.addConstant(UNSIGNED_INT, {bins}, 0, {debug, "none"});
    graph.setTileMapping(partials, 0);
  } else {
    partials = partial_counts(graph, input.flatten(), levels, absoluteOfInput, prog, debug);
  }
  // Two steps: groups of about the square root of their number.
  const std::size_t count = partials.numElements() / bins,
                    group = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  if (count > 64) {
    const ComputeSet cs = graph.addComputeSet({debug, "sum"});
    std::vector<Tensor> sums;
    for (std::size_t begin = 0; begin < count; begin += group) {
      sums.push_back(graph.addVariable(UNSIGNED_INT, {bins}, {debug, "sums"}));
      const unsigned tile = static_cast<unsigned>(begin * graph.getTarget().getNumTiles() / count);
      graph.setTileMapping(sums.back(), tile);
      add_sum(graph, cs, partials.slice(begin * bins, std::min(count, begin + group) * bins), sums.back(), false, tile);
    }
    prog.add(Execute(cs, {debug}));
    partials = concat(sums);
  }
  const ComputeSet cs = graph.addComputeSet({debug, "sum"});
  add_sum(graph, cs, partials, output, updateOutput, 0);
  prog.add(Execute(cs, {debug}));
}

Tensor histogram(Graph& graph, const Tensor& input, const Tensor& levels, bool absoluteOfInput, Sequence& prog,
                 const DebugContext& debugContext, const OptionFlags& options) {
  check(input, levels);
  Tensor output =
      graph.addVariable(parse_float_arithmetic(options) ? FLOAT : UNSIGNED_INT, {levels.numElements() + 1}, {debugContext, "histogram"});
  graph.setTileMapping(output, 0);
  histogram(graph, input, output, false, levels, absoluteOfInput, prog, debugContext, options);
  return output;
}

}  // namespace popops
