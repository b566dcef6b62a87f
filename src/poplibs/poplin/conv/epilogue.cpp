// Convolutions with an epilogue (poplin/Epilogue.hpp).
#include <pando/ownership.hpp>
#include <poplin/Epilogue.hpp>

#include <algorithm>

#include "poplibs/poplin/conv/convolve.h"
#include "poplibs/poplin/conv/cpu_rows.h"

namespace poplin {

using conv::Convolution;
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
  std::vector<std::size_t> shape{params.batchSize, params.getNumOutputChans()};
  for (const std::size_t n : params.getOutputFieldShape()) shape.push_back(n);
  internal::check_outs(where, graph, epilogue, shape, outs);
  const std::optional<internal::Finish> finish = internal::finish_of(where, graph, epilogue, shape, 1);
  const bool floats = params.inputType == poplar::FLOAT && params.outputType == poplar::FLOAT;
  if (!finish || !floats || graph.getTarget().getTargetType() != poplar::TargetType::CPU) return false;
  const Convolution c(graph, params, conv::Kind::forward, false, options, cache);
  if (!c.in_rows) return false;

  const auto view = [&](const Tensor& t) { return t.valid() ? conv::output_view(t, params, c.problem) : Tensor(); };
  std::vector<Tensor> results = outs, read{in, weights};
  conv::FinishInRows in_rows{&*finish, {}, {}};
  for (const internal::FinishOperand& o : finish->operands) {
    in_rows.matrices.push_back(o.is_matrix ? view(o.tensor) : Tensor());
    read.push_back(o.tensor);
  }
  for (const Tensor& t : outs) in_rows.more.push_back(view(t));
  if (internal::interfere(outs, read) || !conv::can_finish_in_rows(in_rows, c.problem, shape)) return false;
  for (std::size_t r = 0; r < results.size(); ++r) {
    if (!results[r].valid()) results[r] = pixels_of(graph, shape, {debugContext, "output"});
    in_rows.more[r] = view(results[r]);
  }
  const Tensor first = in_rows.more[0];
  in_rows.more.erase(in_rows.more.begin());
  conv::Stages stages(graph, debugContext);
  conv::convolve_in_rows(graph, c.problem, c.options, conv::input_view(in, params, c.problem),
                         conv::weights_view(weights, params, c.problem, false), first, stages.at(0), prog, stages.after(), debugContext,
                         &in_rows);
  stages.add_to(prog);
  outs = results;
  return true;
}

}  // namespace poplin
