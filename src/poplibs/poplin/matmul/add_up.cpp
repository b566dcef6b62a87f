#include <algorithm>
#include <string>

#include "poplibs/poplin/matmul/product.h"
#include "poplibs/work.h"

namespace poplin::internal::matmul {
namespace {

using poplar::Graph;
using poplar::Interval;
using poplar::Tensor;

// Elements of a vertex, at least; cuts are at multiples of kGrain elements of a run.
constexpr std::size_t kLeast = 64, kGrain = 8;

std::size_t up(std::size_t n, std::size_t d) { return (n + d - 1) / d; }

// The runs of one tile as lists of nearly equal size, at most `most` of them.
std::vector<std::vector<Interval>> share_out(const std::vector<std::vector<Interval>>& runs, std::size_t most) {
  std::size_t total = 0;
  for (const auto& run : runs)
    for (const Interval& i : run) total += i.size();
  const std::size_t share = up(std::max(up(total, most), kLeast), kGrain) * kGrain;
  std::vector<std::vector<Interval>> lists(1);
  std::size_t left = share;
  for (const auto& run : runs)
    for (Interval i : run)
      while (i.size() > 0) {
        if (left == 0) lists.emplace_back(), left = share;
        const std::size_t n = std::min<std::size_t>(left, i.size());
        lists.back().emplace_back(i.begin(), i.begin() + n);
        i = Interval(i.begin() + n, i.end());
        left -= n;
      }
  return lists;
}

Tensor part_of(const Tensor& flat, const std::vector<Interval>& list) {
  if (list.size() == 1) return flat.slice(list[0]);
  return poplar::concat(flat.slices(list));
}

}  // namespace

void add_up(Graph& graph, const std::vector<Tensor>& partials, const Tensor& out, const Tensor& scale, poplar::program::Sequence& prog,
            const poplar::DebugContext& debug) {
  const poplar::ComputeSet set = graph.addComputeSet({debug, "add_up"});
  const std::string types = partials[0].elementType().toString() + "," + out.elementType().toString();
  const std::string vertex = scale.valid() ? "poplin::SumPartialsInto<" + types + "," + scale.elementType().toString() + ">"
                                           : "poplin::SumPartials<" + types + ">";
  const Graph::TileToTensorMapping mapping = graph.getTileMapping(out);
  const unsigned most = pando::poplibs::vertices_per_tile(graph.getTarget());
  std::vector<Tensor> in(partials.size());
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    if (mapping[tile].empty()) continue;
    for (const std::vector<Interval>& list : share_out(graph.getSortedContiguousRegions(out, mapping[tile]), most)) {
      for (std::size_t p = 0; p < in.size(); ++p) in[p] = part_of(partials[p], list);
      const poplar::VertexRef v = graph.addVertex(set, vertex);
      graph.setTileMapping(v, tile);
      graph.connect(v["in"], in);
      graph.connect(v["out"], part_of(out, list));
      if (scale.valid()) graph.connect(v["scale"], scale);
    }
  }
  prog.add(poplar::program::Execute(set, debug));
}

}  // namespace poplin::internal::matmul
