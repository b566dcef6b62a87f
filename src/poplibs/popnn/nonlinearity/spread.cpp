#include "poplibs/popnn/nonlinearity/spread.h"

#include <algorithm>
#include <poputil/TileMapping.hpp>
#include <poputil/Util.hpp>

#include "poplibs/popnn/rows/image_form.h"
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

namespace {

// The groups that channels of activations lie in; a single one for other tensors.
ImageForm channel_groups_of(const Tensor& t) {
  const ImageForm form = t.rank() > 2 && t.rank() < 6 ? image_form_of(t) : ImageForm();
  return form.channels > 1 ? form : ImageForm();
}

// Reorders tensors of one shape, then makes them flat.
void reorder(const Graph& graph, std::vector<Tensor>& tensors) {
  std::vector<Tensor*> others;  // not flat yet: dimensions that are permuted are quickly put in order
  for (std::size_t i = 0; i + 1 < tensors.size(); ++i) others.push_back(&tensors[i]);
  graph.reorderToSimplify(&tensors.back(), others, false);
  for (Tensor& t : tensors) t = t.flatten();
}

}  // namespace

std::vector<Tensor> in_order_of_last(const Graph& graph, std::vector<Tensor> tensors) {
  const Tensor& last = tensors.back();
  const ImageForm form = channel_groups_of(last);
  if (form.groups == 1) {
    reorder(graph, tensors);
    return tensors;
  }
  // The results of convolutions: channels lie in groups, each a permutation of dimensions, which the whole is not.
  std::vector<std::vector<Tensor>> groups(tensors.size());
  for (std::size_t i = 0; i < form.groups; ++i) {
    std::vector<Tensor> part;
    for (const Tensor& t : tensors) part.push_back(t.slice(i * form.channels, (i + 1) * form.channels, 1));
    reorder(graph, part);
    for (std::size_t t = 0; t < part.size(); ++t) groups[t].push_back(part[t]);
  }
  for (std::size_t t = 0; t < tensors.size(); ++t) tensors[t] = concat(groups[t]);
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
  if (t.numElements() == 0) return graph.clone(t, debug);
  if (is_well_spread(graph, t)) {
    const ImageForm form = channel_groups_of(t);
    if (form.groups == 1) return graph.clone(t, debug);
    // A clone would be made of as many pieces as the operand has runs.
    const Tensor images = form.to_images(t), out = graph.addVariable(t.elementType(), images.shape(), debug);
    graph.setTileMapping(out, graph.getTileMapping(images));
    const std::vector<std::size_t> shape = t.shape();
    return form.from_images(out, {shape.begin() + 2, shape.end()});
  }
  const Tensor out = graph.addVariable(t.elementType(), t.shape(), debug);
  poputil::mapTensorLinearly(graph, out);
  return out;
}

}  // namespace popnn::internal
