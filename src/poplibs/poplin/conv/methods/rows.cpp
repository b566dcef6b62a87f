#include "poplibs/poplin/conv/cpu_rows.h"
#include "poplibs/poplin/conv/method.h"

#include <algorithm>

namespace poplin::conv {
namespace {

Partition one_block(const Call& c) {
  Partition p;
  p.field.assign(c.problem.lines.size(), 1);
  return p;
}

// A variable for a result {batch, channels, field...}: the channels of a pixel lie together.
Tensor pixels_of(poplar::Graph& graph, const Convolution& c, const DebugContext& debug) {
  std::vector<std::size_t> shape{c.params.batchSize};
  for (const std::size_t n : c.params.getOutputFieldShape()) shape.push_back(n);
  shape.push_back(c.params.getNumOutputChans());
  const Tensor t = graph.addVariable(c.params.outputType, shape, debug);
  graph.setTileMapping(t, 0);
  return t.dimRoll(static_cast<unsigned>(shape.size() - 1), 1);
}

}  // namespace

// On the CPU device, where images are read as they lie.
Method method_rows() {
  return {.name = "rows",
          .order = 0,
          .applies = [](const Call& c) { return c.kind == Kind::forward && is_in_rows(c.problem, c.options, c.target); },
          .is_on_tiles = false,
          .partition = one_block,
          .create_input = [](poplar::Graph& graph, const Convolution& c,
                             const DebugContext& name) { return make_image(graph, c.params, name); },
          .create_result = pixels_of,
          .run =
              [](poplar::Graph& graph, const Convolution& c, const OperandViews& o, Stages& stages, Sequence& before,
                 const DebugContext& context, const FinishViews* finish) {
                convolve_in_rows(graph, c.problem, c.options, o.in, weights_view(o.weights, c.params, c.problem, o.transposed), o.out,
                                 stages.at(0), before, stages.after(), context, finish);
              },
          .can_finish = [](const poplar::Target&, const Convolution&, const FinishViews& finish) { return can_finish_in_rows(finish); },
          .report = [](std::ostream& out, const Call& c) { print_in_rows(out, c.problem, c.options); }};
}

}  // namespace poplin::conv
