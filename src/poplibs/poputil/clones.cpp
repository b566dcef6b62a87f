// Clones on other tiles, and with other aliases.
#include "poplibs/poputil/clones.h"
#include "poplibs/poputil/reject.h"

#include <fmt/format.h>
#include <pando/ownership.hpp>

#include <algorithm>

#include "poputil/TileMapping.hpp"
#include "poputil/Util.hpp"
#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using poplar::DebugContext;
using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;
using poplar::TensorCloneMethod;
using Mapping = Graph::TileToTensorMapping;

// Where an element of a variable occurs in a tensor.
struct Occurrence {
  poplar::VariableRef variable;
  Interval interval;  // of the variable
  std::size_t at;     // of the flattened tensor
};

// The intervals, in order, of the flattened tensor's elements that occur in it more than once.
std::vector<Interval> repeated_elements(const Tensor& t) {
  std::vector<Occurrence> all;
  std::size_t at = 0;
  for (const poplar::VariableInterval& r : t.getVarRegions()) {
    all.push_back({r.var, r.interval, at});
    at += r.interval.size();
  }
  std::sort(all.begin(), all.end(), [](const Occurrence& a, const Occurrence& b) {
    return a.variable != b.variable ? a.variable < b.variable : a.interval < b.interval;
  });
  // A region repeats what the one before it that reaches furthest has, and the other way round. Others before it need no look:
  // what they share with it, that one has, too, and it was seen then.
  std::vector<Interval> repeated;
  const auto add = [&](const Occurrence& o, std::size_t begin, std::size_t end) {
    if (begin < end) repeated.emplace_back(o.at + begin - o.interval.begin(), o.at + end - o.interval.begin());
  };
  const Occurrence* furthest = nullptr;
  for (const Occurrence& o : all) {
    if (!furthest || furthest->variable != o.variable) {
      furthest = &o;
      continue;
    }
    const std::size_t end = std::min(furthest->interval.end(), o.interval.end());
    add(*furthest, o.interval.begin(), end);
    add(o, o.interval.begin(), end);
    if (o.interval.end() > furthest->interval.end()) furthest = &o;
  }
  mergeAdjacentRegions(repeated);
  return repeated;
}

}  // namespace

namespace internal {

CopyOperands copy_operands(const Graph& graph, const Tensor& source, const Tensor& destination) {
  if (!destination.containsAliases()) return {source, destination};
  const Tensor from = source.flatten(), to = destination.flatten();
  const auto once = flattenIntervals(graph.getSortedContiguousRegions(to, {Interval(0, to.numElements())}, true));
  return {poplar::concat(from.slices(once)), poplar::concat(to.slices(once))};
}

}  // namespace internal

Tensor duplicate(Graph& graph, const Tensor& in, poplar::program::Sequence& p, const DebugContext& debugContext, TensorCloneMethod method) {
  Tensor out = graph.clone(in, debugContext, method);
  const auto [from, to] = internal::copy_operands(graph, in, out);
  p.add(poplar::program::Copy(from, to, false, debugContext));
  return out;
}

Tensor cloneN(Graph& graph, const Tensor& t, unsigned N, const DebugContext& debugContext, TensorCloneMethod method) {
  return graph.cloneN(t, N, debugContext, method);
}

Tensor cloneToIpu(Graph& graph, const Tensor& t, unsigned dstIPU, const DebugContext& debugContext, TensorCloneMethod method) {
  const poplar::Target& target = graph.getTarget();
  if (dstIPU >= target.getNumIPUs()) poputil::reject("no-such-ipu", "cloneToIpu: IPU {} of {}", dstIPU, target.getNumIPUs());
  const std::size_t tiles = target.getTilesPerIPU();
  const Mapping mapping = graph.getTileMapping(t);
  Mapping moved(target.getNumTiles());
  for (std::size_t tile = 0; tile < mapping.size(); ++tile) {
    std::vector<Interval>& here = moved[dstIPU * tiles + tile % tiles];
    here.insert(here.end(), mapping[tile].begin(), mapping[tile].end());
  }
  mergeAdjacentRegions(moved);
  Tensor out = graph.clone(t, debugContext, method);
  graph.setTileMapping(out, moved);
  return out;
}

Tensor cloneToGraph(Graph& srcGraph, Graph& dstGraph, const Tensor& t, const DebugContext& debugContext, TensorCloneMethod method) {
  Mapping mapping = srcGraph.getTileMapping(t);
  while (!mapping.empty() && mapping.back().empty()) mapping.pop_back();
  if (mapping.size() > dstGraph.getTarget().getNumTiles())
    poputil::reject("no-such-tile", "cloneToGraph: the tensor is on tile {}; the destination has {} tiles", mapping.size() - 1,
                    dstGraph.getTarget().getNumTiles());
  Tensor out = dstGraph.clone(t, debugContext, method);
  dstGraph.setTileMapping(out, mapping);
  return out;
}

std::pair<Tensor, unsigned> cloneAndExpandAliasing(Graph& graph, const Tensor& t, unsigned offset, const DebugContext& debugContext) {
  Tensor out = graph.clone(t, debugContext, TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES);
  const std::vector<Interval> repeated = t.containsAliases() ? repeated_elements(t) : std::vector<Interval>();
  if (repeated.empty()) return {out, offset};
  const Tensor spread = poplar::concat(out.flatten().slices(repeated));
  const auto [mapping, next] = calcLinearTileMappingAndNewOffset(graph, spread, offset);
  graph.setTileMapping(spread, mapping);
  return {out, next};
}

Tensor createIpuCopy(Graph& graph, const Tensor& t, unsigned dstIpu, Tensor& copySrc, Tensor& copyDst, const DebugContext& debugContext,
                     TensorCloneMethod method) {
  pando::require_own(graph, t, "createIpuCopy");
  Tensor out = cloneToIpu(graph, t, dstIpu, debugContext, method);
  const auto [from, to] = internal::copy_operands(graph, t, out);
  copySrc = from;
  copyDst = to;
  return out;
}

Tensor copyToIpu(Graph& masterGraph, const Tensor& t, poplar::program::Sequence& prog, unsigned dstIPU, const DebugContext& debugContext,
                 TensorCloneMethod method) {
  Tensor from, to;
  Tensor out = createIpuCopy(masterGraph, t, dstIPU, from, to, debugContext, method);
  prog.add(poplar::program::Copy(from, to, false, debugContext));
  return out;
}

}  // namespace poputil
