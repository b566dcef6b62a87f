// Convolutions with an epilogue (poplin/Epilogue.hpp).
#include <pando/ownership.hpp>
#include <poplin/Epilogue.hpp>

#include "poplibs/poplin/conv/convolve.h"
#include "poplibs/poplin/conv/method.h"

namespace poplin {

using conv::Convolution;
using conv::Kind;
using poplar::DebugContext;
using poplar::Tensor;

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
  Convolution c(graph, params, Kind::forward, false, options, cache);
  const auto view = [&](const Tensor& t) { return t.valid() ? conv::output_view(t, params, c.problem) : Tensor(); };
  std::vector<Tensor> results = outs;
  conv::FinishViews views{&*finish, {}, {}};
  for (const internal::FinishOperand& o : finish->operands) views.matrices.push_back(o.is_matrix ? view(o.tensor) : Tensor());
  for (const Tensor& t : outs) views.more.push_back(view(t));
  if (internal::interfere(outs, internal::tensors_read(in, weights, *finish)) || !conv::computes_all(c.problem, shape)) return false;
  if (!c.method->can_finish(graph.getTarget(), c, views)) return false;
  c.begin_at(graph, weights);
  for (std::size_t r = 0; r < results.size(); ++r) {
    const DebugContext name(debugContext, "output");
    if (!results[r].valid()) results[r] = c.method->create_result(graph, c, name);
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
