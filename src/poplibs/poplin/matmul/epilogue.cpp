// Products with an epilogue (poplin/Epilogue.hpp).
#include <pando/ownership.hpp>
#include <pando/placing.hpp>
#include <poplin/Epilogue.hpp>

#include "poplibs/poplin/epilogue.h"
#include "poplibs/poplin/matmul/begin.h"
#include "poplibs/poplin/matmul/blocked.h"
#include "poplibs/poplin/matmul/cpu_product.h"
#include "poplibs/poplin/matmul/finish.h"
#include "poplibs/poplin/matmul/orient.h"
#include "poplibs/poplin/matmul/planned.h"
#include "poplibs/poputil/refuse.h"

namespace poplin {
namespace {

using namespace internal;
using namespace internal::matmul;
using poplar::Tensor;

// Where a plan's partial sums are added up. False where there are none: the multiplying vertices write the result themselves.
bool multiply_and_finish_sums(poplar::Graph& whole, const Problem& p, const Tensor& a, const Tensor& b, const Finish& finish,
                              std::vector<Tensor>& outs, poplar::program::Sequence& prog, const poplar::DebugContext& debug,
                              PlanningCache* cache) {
  const Oriented o = orient(whole, p, a, b, Tensor(), cache);
  if (o.product.is_direct()) return false;
  poplar::Graph graph = pando::rotated(whole, rotation_by_plan(whole, o, outs[0]));
  const Tensor first = o.product.arrange_first(graph, o.first, prog, debug),
               second = o.product.arrange_second(graph, o.second, prog, debug);
  std::vector<Tensor> flat;
  for (Tensor& t : outs) {
    if (!t.valid()) t = o.product.create_result(graph, {debug, "out"});
    flat.push_back(to_flat(o.product.result(), t));
  }
  const std::vector<Tensor> partials = o.product.multiply(graph, first, second, prog, debug);
  add_up_and_finish(graph, partials, o.product.result(), flat_finish(finish, o.product.result(), flat), prog, debug);
  return true;
}

// Of A {groups, m, k}, B {groups, k, n} and outs {groups, m, n}.
bool multiply(const std::string& where, poplar::Graph& graph, const Tensor& a, const Tensor& b, const Epilogue& epilogue,
              std::vector<Tensor>& outs, poplar::program::Sequence& prog, const poplar::DebugContext& debug,
              const poplar::OptionFlags& options, PlanningCache* cache) {
  for (const Tensor* t : {&a, &b}) pando::require_own(graph, *t, where);
  if (a.elementType() != b.elementType())
    poputil::refuse("product-operands", "{}: A is of type {} and B of {}, expected one type", where, a.elementType().toString(),
                    b.elementType().toString());
  const Problem p = problem_of(where, a.elementType(), a.elementType(), a.shape(), b.shape(), options);
  const std::vector<std::size_t> shape{p.groups, p.m, p.n};
  check_outs(where, graph, epilogue, p.output, shape, outs);
  const std::optional<Finish> finish = finish_of(where, graph, epilogue, p.output, shape, 2);
  if (!finish || p.groups * p.m * p.n * p.k == 0) return false;
  if (is_cpu(graph.getTarget())) return multiply_and_finish_on_cpu(graph, p, a, b, *finish, outs, prog, debug);
  std::vector<Tensor> read{a, b};
  for (const FinishOperand& o : finish->operands) read.push_back(o.tensor);
  if (interfere(outs, read)) return false;
  if (!is_blocked(p, graph.getTarget()))
    return p.input == poplar::FLOAT && multiply_and_finish_sums(graph, p, a, b, *finish, outs, prog, debug, cache);
  poplar::Graph there = pando::rotated(graph, rotation_in_blocks(graph, p, b));
  multiply_and_finish_in_blocks(there, p, a, b, *finish, outs, prog, debug);
  return true;
}

Tensor as_group(const std::string& where, const Tensor& t) {
  if (t.rank() != 2) poputil::refuse("product-operands", "{}: a tensor has shape {}, expected a matrix", where, t.shapeToString());
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
