#include "poplibs/poplin/per_channel.h"

namespace poplin::internal {

using poplar::Tensor;

Tensor create_per_channel(poplar::Graph& graph, const Tensor& acts, const poplar::Type& type, const poplar::DebugContext& context) {
  const std::size_t channels = acts.dim(1);
  const Tensor t = graph.addVariable(type, {channels}, context);
  if (acts.numElements() == 0) {
    graph.setTileMapping(t, 0);
    return t;
  }
  std::vector<std::size_t> first(acts.rank(), 1);
  first[1] = channels;
  const Tensor firsts = acts.slice(std::vector<std::size_t>(acts.rank(), 0), first).flatten();
  graph.setTileMapping(t, graph.getTileMapping(firsts));
  return t;
}

Tensor per_channel(const Tensor& t, const Tensor& acts) {
  std::vector<std::size_t> shape(acts.rank() - 1, 1);
  shape[0] = acts.dim(1);
  return t.flatten().reshape(shape);
}

std::vector<std::size_t> all_but_channels(const Tensor& acts) {
  std::vector<std::size_t> dims = {0};
  for (std::size_t d = 2; d < acts.rank(); ++d) dims.push_back(d);
  return dims;
}

}  // namespace poplin::internal
