#include "poplibs/popnn/norms/norm_rows.h"

#include <pando/cpu_device.hpp>

#include <algorithm>

#include <popnn/codelets.hpp>
#include <popops/Reduce.hpp>

namespace popnn::internal {
namespace {

using namespace poplar;
using program::Sequence;

// Parts: more than a host's threads, so that they share them evenly; and elements of a part, at least.
constexpr std::size_t kParts = 16, kLeastElements = 4096;

std::size_t rows_of_part(std::size_t rows, std::size_t columns) {
  return std::max((rows + kParts - 1) / kParts, (kLeastElements + columns - 1) / columns);
}

Tensor variable(Graph& graph, const std::vector<std::size_t>& shape, const DebugContext& debug) {
  const Tensor t = graph.addVariable(FLOAT, shape, debug);
  graph.setTileMapping(t, 0);
  return t;
}

template <class Visit>  // visit(vertex, first row, end)
void for_each_part(Graph& graph, const Tensor& acts, const ComputeSet& set, const char* vertex, Visit visit) {
  const std::size_t rows = acts.dim(0), part = rows_of_part(rows, acts.dim(1));
  if (!graph.hasCodelet(vertex)) addCodelets(graph);  // PopLibs' norms need poplin's and popops' codelets alone
  for (std::size_t begin = 0; begin < rows; begin += part) {
    const VertexRef v = graph.addVertex(set, vertex);
    graph.setTileMapping(v, 0);
    visit(v, begin, std::min(rows, begin + part));
  }
}

Tensor rows_of(const Tensor& t, std::size_t begin, std::size_t end) { return t.slice(begin, end).flatten(); }

}  // namespace

bool are_rows(const Graph& graph, const Tensor& acts, std::size_t groups) {
  return pando::reads_in_place(graph.getTarget()) && groups == 1 && acts.rank() == 2 && acts.numElements() > 0 &&
         acts.elementType() == FLOAT && acts.isContiguous();
}

std::array<Tensor, 3> normalise_rows(Graph& graph, const Tensor& acts, const Tensor& gamma, const Tensor& beta, float eps, Sequence& prog,
                                     const DebugContext& debug) {
  const Tensor y = variable(graph, acts.shape(), {debug, "normalised"}), mean = variable(graph, {acts.dim(0)}, {debug, "mean"});
  const Tensor inverse = variable(graph, {acts.dim(0)}, {debug, "iStdDev"});
  const ComputeSet set = graph.addComputeSet({debug, "normalise"});
  for_each_part(graph, acts, set, "popnn::NormRows", [&](const VertexRef& v, std::size_t begin, std::size_t end) {
    graph.connect(v["in"], rows_of(acts, begin, end));
    graph.connect(v["gamma"], gamma.flatten());
    graph.connect(v["beta"], beta.flatten());
    graph.connect(v["out"], rows_of(y, begin, end));
    graph.connect(v["mean"], mean.slice(begin, end));
    graph.connect(v["inverse"], inverse.slice(begin, end));
    graph.setInitialValue(v["eps"], eps);
  });
  prog.add(program::Execute(set));
  return {y, mean, inverse};
}

std::array<Tensor, 3> gradients_of_rows(Graph& graph, const Tensor& acts, const Tensor& gradients, const Tensor& mean,
                                        const Tensor& inverse, const Tensor& gamma, Sequence& prog, const DebugContext& debug) {
  const std::size_t rows = acts.dim(0), columns = acts.dim(1), part = rows_of_part(rows, columns), parts = (rows + part - 1) / part;
  const Tensor out = variable(graph, acts.shape(), {debug, "gradient"}),
               partials = variable(graph, {parts, 2, columns}, {debug, "partials"});
  const ComputeSet set = graph.addComputeSet({debug, "gradients"});
  for_each_part(graph, acts, set, "popnn::NormRowsGradient", [&](const VertexRef& v, std::size_t begin, std::size_t end) {
    graph.connect(v["in"], rows_of(acts, begin, end));
    graph.connect(v["gradient"], rows_of(gradients, begin, end));
    graph.connect(v["gamma"], gamma.flatten());
    graph.connect(v["mean"], mean.flatten().slice(begin, end));
    graph.connect(v["inverse"], inverse.flatten().slice(begin, end));
    graph.connect(v["out"], rows_of(out, begin, end));
    graph.connect(v["gammaGradient"], partials[begin / part][0]);
    graph.connect(v["betaGradient"], partials[begin / part][1]);
  });
  prog.add(program::Execute(set));
  const Tensor sums = popops::reduce(graph, partials, {0}, popops::Operation::ADD, prog, {debug, "parameters"});
  return {out, sums[0], sums[1]};
}

}  // namespace popnn::internal
