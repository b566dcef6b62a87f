// Convolutions with an epilogue (poplin/Epilogue.hpp).
#include <pando/ownership.hpp>
#include <poplin/Epilogue.hpp>

#include <algorithm>

#include "poplibs/poplin/conv/convolve.h"
#include "poplibs/poplin/conv/cpu_rows.h"

namespace poplin {

using conv::Convolution;
using conv::Kind;
using poplar::DebugContext;
using poplar::Tensor;

namespace {

// A variable for a result {batch, channels, field...}: the channels of a pixel lie together.
Tensor pixels_of(poplar::Graph& graph, std::vector<std::size_t> shape, const poplar::DebugContext& debug) {
  std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  const Tensor t = graph.addVariable(poplar::FLOAT, shape, debug);
  graph.setTileMapping(t, 0);
  return t.dimRoll(static_cast<unsigned>(shape.size() - 1), 1);
}

}  // namespace

bool convolutionWithEpilogue(poplar::Graph& graph, const Tensor& in, const Tensor& weights, const ConvParams& params,
                             const Epilogue& epilogue, std::vector<Tensor>& outs, poplar::program::Sequence& prog,
                             const poplar::DebugContext& debugContext, const poplar::OptionFlags& options, PlanningCache* cache) {
  const std::string where = "convolutionWithEpilogue";
  for (const Tensor* t : {&in, &weights}) pando::require_own(graph, *t, where);
  conv::expect_input(in, params, where.c_str());
  conv::expect_weights(weights, params, false, where.c_str());
  if (params.inputType != poplar::FLOAT || params.outputType != poplar::FLOAT) return false;
  std::vector<std::size_t> shape{params.batchSize, params.getNumOutputChans()};
  for (const std::size_t n : params.getOutputFieldShape()) shape.push_back(n);
  internal::check_outs(where, graph, epilogue, poplar::FLOAT, shape, outs);
  const std::optional<internal::Finish> finish = internal::finish_of(where, graph, epilogue, poplar::FLOAT, shape, 1);
  if (!finish) return false;
  const bool on_cpu = graph.getTarget().getTargetType() == poplar::TargetType::CPU;
  Convolution c(graph, params, Kind::forward, false, options, cache);
  if (on_cpu && !c.in_rows) return false;
  // Where partial sums are added up, boxes may be of several groups, whose rows differ.
  const bool has_rows = std::any_of(finish->operands.begin(), finish->operands.end(),
                                    [](const internal::FinishOperand& o) { return !o.is_matrix && o.stride == internal::kOneRow; });
  const bool in_parts = c.partition.in_channels > 1;
  if (!on_cpu && in_parts && (c.options.half_partials || (has_rows && c.problem.groups > 1))) return false;

  const auto view = [&](const Tensor& t) { return t.valid() ? conv::output_view(t, params, c.problem) : Tensor(); };
  std::vector<Tensor> results = outs, read{in, weights};
  conv::FinishViews views{&*finish, {}, {}};
  for (const internal::FinishOperand& o : finish->operands) {
    views.matrices.push_back(o.is_matrix ? view(o.tensor) : Tensor());
    read.push_back(o.tensor);
  }
  for (const Tensor& t : outs) views.more.push_back(view(t));
  if (internal::interfere(outs, read) || !conv::computes_all(c.problem, shape)) return false;
  if (on_cpu && !conv::can_finish_in_rows(views)) return false;
  c.begin_at(graph, weights);
  for (std::size_t r = 0; r < results.size(); ++r) {
    const DebugContext name(debugContext, "output");
    if (!results[r].valid())
      results[r] = on_cpu ? pixels_of(graph, shape, name) : conv::make_output(graph, params, c.problem, c.partition, name);
    views.more[r] = view(results[r]);
  }
  views.more.erase(views.more.begin());
  conv::Stages stages(graph, debugContext);
  conv::convolve_into(graph, c, in, weights, false, results[0], stages, prog, debugContext, &views);
  stages.add_to(prog);
  outs = results;
  return true;
}

}  // namespace poplin
