#include "poplibs/popnn/nonlinearity/spread.h"

#include <algorithm>
#include <poputil/TileMapping.hpp>
#include <poputil/Util.hpp>

#include "poplibs/work.h"

namespace popnn::internal {

using namespace poplar;

namespace {
constexpr unsigned kLeastElements = 64;  // of a vertex
}

std::vector<ElementPart> spread_elements(const Graph& graph, const Tensor& flat) {
  const Target& target = graph.getTarget();
  const unsigned workers = pando::poplibs::vertices_per_tile(target), grain = target.getVectorWidth(flat.elementType());
  const auto mapping = graph.getTileMapping(flat);
  std::vector<ElementPart> out;
  for (unsigned tile = 0; tile < mapping.size(); ++tile) {
    if (mapping[tile].empty()) continue;
    const auto regions = graph.getSortedContiguousRegions(flat, mapping[tile]);
    for (auto& part : poputil::splitRegions(regions, grain, workers, kLeastElements)) out.push_back({tile, std::move(part)});
  }
  return out;
}

std::vector<Tensor> in_order_of_last(const Graph& graph, std::vector<Tensor> tensors) {
  for (Tensor& t : tensors) t = t.flatten();
  std::vector<Tensor*> others;
  for (std::size_t i = 0; i + 1 < tensors.size(); ++i) others.push_back(&tensors[i]);
  graph.reorderToSimplify(&tensors.back(), others, false);
  return tensors;
}

bool is_well_spread(const Graph& graph, const Tensor& t) {
  const std::size_t tiles = graph.getTarget().getNumTiles(), n = t.numElements();
  const std::size_t wanted = std::min(tiles, std::max<std::size_t>(1, n / kLeastElements));
  std::size_t used = 0, most = 0;
  for (const auto& intervals : graph.getTileMapping(t)) {
    std::size_t elements = 0;
    for (const Interval& i : intervals) elements += i.size();
    used += elements != 0;
    most = std::max(most, elements);
  }
  return 10 * used >= 9 * wanted || most * wanted <= 2 * n;
}

Tensor add_result_like(Graph& graph, const Tensor& t, const DebugContext& debug) {
  if (t.numElements() == 0 || is_well_spread(graph, t)) return graph.clone(t, debug);
  const Tensor out = graph.addVariable(t.elementType(), t.shape(), debug);
  poputil::mapTensorLinearly(graph, out);
  return out;
}

}  // namespace popnn::internal
