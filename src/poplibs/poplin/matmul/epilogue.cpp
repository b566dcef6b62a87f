// Products with an epilogue (poplin/Epilogue.hpp).
#include <pando/ownership.hpp>
#include <poplin/Epilogue.hpp>

#include "poplibs/poplin/epilogue.h"
#include "poplibs/poplin/matmul/method.h"
#include "poplibs/poputil/reject.h"

namespace poplin {
namespace {

using namespace internal;
using namespace internal::matmul;
using poplar::Tensor;

// Of A {groups, m, k}, B {groups, k, n} and outs {groups, m, n}.
bool multiply(const std::string& where, poplar::Graph& graph, const Tensor& a, const Tensor& b, const Epilogue& epilogue,
              std::vector<Tensor>& outs, poplar::program::Sequence& prog, const poplar::DebugContext& debug,
              const poplar::OptionFlags& options, PlanningCache* cache) {
  for (const Tensor* t : {&a, &b}) pando::require_own(graph, *t, where);
  if (a.elementType() != b.elementType())
    poputil::reject("product-operands", "{}: A is of type {} and B of {}, expected one type", where, a.elementType().toString(),
                    b.elementType().toString());
  const Problem p = problem_of(where, a.elementType(), a.elementType(), a.shape(), b.shape(), options);
  const std::vector<std::size_t> shape{p.groups, p.m, p.n};
  check_outs(where, graph, epilogue, p.output, shape, outs);
  const std::optional<Finish> finish = finish_of(where, graph, epilogue, p.output, shape, 2);
  if (!finish || p.groups * p.m * p.n * p.k == 0) return false;
  return method_for(p, graph.getTarget()).finish({graph, p, cache}, a, b, *finish, outs, prog, debug);
}

Tensor as_group(const std::string& where, const Tensor& t) {
  if (t.rank() != 2) poputil::reject("product-operands", "{}: a tensor has shape {}, expected a matrix", where, t.shapeToString());
  return t.expand({0});
}

}  // namespace

bool matMulWithEpilogue(poplar::Graph& graph, const Tensor& A, const Tensor& B, const Epilogue& epilogue, std::vector<Tensor>& outs,
                        poplar::program::Sequence& prog, const poplar::DebugContext& debugContext, const poplar::OptionFlags& options,
                        PlanningCache* cache) {
  const std::string where = "matMulWithEpilogue";
  Epilogue grouped = epilogue;
  for (Tensor& t : grouped.operands)
    if (t.valid() && t.rank() == 2) t = t.expand({0});
  std::vector<Tensor> results = outs;
  for (Tensor& t : results)
    if (t.valid()) t = as_group(where, t);
  if (!multiply(where, graph, as_group(where, A), as_group(where, B), grouped, results, prog, debugContext, options, cache)) return false;
  for (std::size_t i = 0; i < outs.size(); ++i) outs[i] = results[i][0];
  return true;
}

bool matMulGroupedWithEpilogue(poplar::Graph& graph, const Tensor& A, const Tensor& B, const Epilogue& epilogue, std::vector<Tensor>& outs,
                               poplar::program::Sequence& prog, const poplar::DebugContext& debugContext,
                               const poplar::OptionFlags& options, PlanningCache* cache) {
  return multiply("matMulGroupedWithEpilogue", graph, A, B, epilogue, outs, prog, debugContext, options, cache);
}

}  // namespace poplin
