#include "poplibs/poplin/conv/arrangement.h"
#include "poplibs/poplin/conv/build.h"
#include "poplibs/poplin/conv/method.h"

#include <pando/cpu_device.hpp>

#include <algorithm>

namespace poplin::conv {
namespace {

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
  before.add(poplar::program::Copy(view, own, false, context));
  return own;
}

void build(poplar::Graph& graph, const Convolution& c, const OperandViews& o, Stages& stages, Sequence& before, const DebugContext& context,
           const FinishViews* finish) {
  build_forward(graph, c.problem, c.options, c.partition, o.in, weights_for(graph, c, o.weights, o.transposed, before, context), o.out,
                stages, context, finish);
}

bool can_finish_blocks(const poplar::Target& target, const Convolution& c, const FinishViews& views) {
  if (pando::reads_in_place(target)) return false;
  if (c.partition.in_channels <= 1) return true;
  // Where partial sums are added up, boxes may be of several groups, whose rows differ.
  const auto& operands = views.finish->operands;
  const bool has_rows = std::any_of(operands.begin(), operands.end(),
                                    [](const internal::FinishOperand& o) { return !o.is_matrix && o.stride == internal::kOneRow; });
  return !c.options.half_partials && (!has_rows || c.problem.groups == 1);
}

}  // namespace

// By the planner: blocks over the tiles.
Method method_planned() {
  return {.name = "planned",
          .order = 1,
          .applies = [](const Call&) { return true; },
          .partition = [](const Call& c) { return plan_for(c.target, c.options, c.problem, c.kind, c.cache).partition; },
          .create_input = [](poplar::Graph& graph, const Convolution& c,
                             const DebugContext& name) { return make_input(graph, c.params, c.problem, c.partition, name); },
          .create_result = [](poplar::Graph& graph, const Convolution& c,
                              const DebugContext& name) { return make_output(graph, c.params, c.problem, c.partition, name); },
          .run = build,
          .can_finish = can_finish_blocks,
          .report = [](std::ostream& out,
                       const Call& c) { out << to_string(c.problem, c.kind, plan_for(c.target, c.options, c.problem, c.kind, c.cache)); }};
}

}  // namespace poplin::conv
