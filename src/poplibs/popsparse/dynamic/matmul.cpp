#include <popsparse/FullyConnected.hpp>
#include <popsparse/MatMul.hpp>
#include <popsparse/MatMulParams.hpp>

#include <algorithm>
#include <cmath>

#include "poplibs/popsparse/dynamic/problem.h"
#include "poplibs/popsparse/dynamic/product.h"
#include "poplibs/poputil/reject.h"

namespace popsparse::dynamic {
namespace {

using namespace poplar;
using namespace poplar::program;
using poputil::reject;

void expect(const char* function, const char* what, const Tensor& t, const Type& type, const std::vector<std::size_t>& shape) {
  const auto list = [](const std::vector<std::size_t>& sizes) { return fmt::format("{{{}}}", fmt::join(sizes, ", ")); };
  if (t.shape() != shape || t.elementType() != type)
    reject("popsparse-operand", "{}: {} has shape {} and type {}; expected {} and {}", function, what, list(t.shape()),
           t.elementType().toString(), list(shape), type.toString());
}

template <class Params>
SparsePlan planned(const char* function, const Graph& graph, const Params& params, const Type& type, const OptionFlags& options) {
  return make_plan(graph.getTarget(), problem_of(function, params, type), dynamic_options(options));
}

}  // namespace

SparseTensor createSparseDenseMatMulLHS(Graph& graph, const Type& type, const MatMulParams& params, const DebugContext& context,
                                        const OptionFlags& options, PlanningCache*) {
  return create_sparse(graph, planned("popsparse::dynamic::createSparseDenseMatMulLHS", graph, params, type, options), context);
}

Tensor createSparseDenseMatMulRHS(Graph& graph, const Type& type, const MatMulParams& params, const DebugContext& context,
                                  const OptionFlags& options, PlanningCache*) {
  return create_dense(graph, planned("popsparse::dynamic::createSparseDenseMatMulRHS", graph, params, type, options), context).expand({0});
}

Tensor sparseDenseMatMul(Graph& graph, const SparseTensor& lhs, const Tensor& rhs, Sequence& prog, bool transpose_lhs, bool transpose_rhs,
                         const DebugContext& context, const OptionFlags& options, PlanningCache*) {
  constexpr auto kName = "popsparse::dynamic::sparseDenseMatMul";
  dynamic_options(options);
  const SparsePlan& plan = plan_of(kName, lhs.getOpMetaData());
  const Problem& p = plan.problem;
  if (rhs.rank() != 3)
    reject("popsparse-operand", "{}: the right side has {} dimensions; expected 3: groups, rows, columns", kName, rhs.rank());
  const Tensor x = transpose_rhs ? rhs.dimRoll(1, 2) : rhs;
  expect(kName, "the right side", x, p.type, {1, transpose_lhs ? p.shape.rows : p.shape.columns, p.width});
  return multiply(graph, plan, lhs, x[0], transpose_lhs, prog, context).expand({0});
}

SparseTensor createFullyConnectedWeights(Graph& graph, const Type& type, const FullyConnectedParams& params, const DebugContext& context,
                                         const OptionFlags& options, PlanningCache*) {
  return create_sparse(graph, planned("popsparse::dynamic::createFullyConnectedWeights", graph, params, type, options), context);
}

Tensor createFullyConnectedInput(Graph& graph, const Type& type, const FullyConnectedParams& params, const DebugContext& context,
                                 const OptionFlags& options, PlanningCache*) {
  return create_dense(graph, planned("popsparse::dynamic::createFullyConnectedInput", graph, params, type, options), context).transpose();
}

Tensor fullyConnectedFwd(Graph& graph, const SparseTensor& weights, const Tensor& activations, const FullyConnectedParams& params,
                         Sequence& prog, const DebugContext& context, const OptionFlags& options, PlanningCache*) {
  constexpr auto kName = "popsparse::dynamic::fullyConnectedFwd";
  const SparsePlan plan = planned(kName, graph, params, weights.getNzValuesTensor().elementType(), options);
  expect(kName, "the activations", activations, plan.problem.type, {params.getBatchSize(), params.getInputChannels()});
  return multiply(graph, plan, weights, activations.transpose(), false, prog, context).transpose();
}

Tensor fullyConnectedGradA(Graph& graph, const SparseTensor& weights, const Tensor& gradients, const FullyConnectedParams& params,
                           Sequence& prog, const DebugContext& context, const OptionFlags& options, PlanningCache*) {
  constexpr auto kName = "popsparse::dynamic::fullyConnectedGradA";
  const SparsePlan plan = planned(kName, graph, params, weights.getNzValuesTensor().elementType(), options);
  expect(kName, "the gradients", gradients, plan.problem.type, {params.getBatchSize(), params.getOutputChannels()});
  return multiply(graph, plan, weights, gradients.transpose(), true, prog, context).transpose();
}

Tensor fullyConnectedSparseGradW(Graph& graph, const Tensor words, const Tensor& gradients, const Tensor& activations,
                                 const FullyConnectedParams& params, Sequence& prog, const DebugContext& context,
                                 const OptionFlags& options, PlanningCache*) {
  constexpr auto kName = "popsparse::dynamic::fullyConnectedSparseGradW";
  const SparsePlan plan = planned(kName, graph, params, activations.elementType(), options);
  expect(kName, "the gradients", gradients, plan.problem.type, {params.getBatchSize(), params.getOutputChannels()});
  expect(kName, "the activations", activations, plan.problem.type, {params.getBatchSize(), params.getInputChannels()});
  return gradient(graph, plan, words_of(kName, plan, words), gradients.transpose(), activations.transpose(), prog, context);
}

// A tile's share of a part of the gradient, in the type of partial sums, takes at most the part of memory that the options give.
std::tuple<unsigned, unsigned, unsigned> fullyConnectedDenseGradWSerialSplits(const Graph& graph, const Type& type,
                                                                              const FullyConnectedParams& params, const OptionFlags& flags,
                                                                              PlanningCache*) {
  constexpr auto kName = "popsparse::dynamic::fullyConnectedDenseGradWSerialSplits";
  const Problem p = problem_of(kName, params, type);
  const Options options = dynamic_options(flags);
  const Target& target = graph.getTarget();
  const double bytes =
      static_cast<double>(p.shape.rows) * static_cast<double>(p.shape.columns) * static_cast<double>(target.getTypeSize(options.partials));
  const double limit = options.memory * static_cast<double>(target.getBytesPerTile()) * static_cast<double>(target.getNumTiles()) / 4;
  // The least divisor of the rows that is enough; of rows without end, none that takes long to find.
  constexpr unsigned kMostParts = 1u << 16;
  const double wanted = std::min(std::ceil(bytes / limit), static_cast<double>(kMostParts));
  auto parts = static_cast<unsigned>(std::max(wanted, 1.0));
  while (parts < kMostParts && parts < p.shape.rows && p.shape.rows % parts != 0) ++parts;
  if (parts > p.shape.rows) parts = static_cast<unsigned>(p.shape.rows);
  return {1u, 1u, parts};
}

}  // namespace popsparse::dynamic
