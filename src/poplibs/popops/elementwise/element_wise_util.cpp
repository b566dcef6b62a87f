#include <popops/ElementWiseUtil.hpp>

#include <pando/ownership.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include "operands.h"
#include "poplibs/poputil/reject.h"

namespace popops {

using namespace poplar;

namespace {

// Below so many elements per tile of the machine an output stays where its inputs are, however few tiles that is.
constexpr std::size_t kFewElementsPerTile = 32;
// As many on each tile that the inputs use may stay, too: to move them would cost what more tiles save.
constexpr std::size_t kStay = 4096;

std::size_t tiles_used(const Graph& graph, const Tensor& t) {
  std::size_t used = 0;
  for (const auto& intervals : graph.getTileMapping(t)) used += intervals.empty() ? 0 : 1;
  return used;
}

}  // namespace

Tensor createOutputForElementWiseOp(Graph& graph, const std::vector<Tensor>& inputs, const Type& outputType,
                                    const DebugContext& debugContext) {
  if (inputs.empty()) poputil::reject("no-inputs", "createOutputForElementWiseOp: no inputs");
  for (const Tensor& t : inputs) pando::require_own(graph, t, "input");
  std::vector<std::vector<std::size_t>> shapes;
  for (const Tensor& t : inputs) shapes.push_back(t.shape());
  const std::vector<std::size_t> shape = internal::broadcast_shape(shapes, "createOutputForElementWiseOp");
  const Tensor* best = nullptr;
  std::size_t most = 0;
  for (const Tensor& t : inputs)
    if (t.shape() == shape && t.numElements() > 0 && !t.containsAliases()) {
      const std::size_t used = tiles_used(graph, t);
      if (used > most) best = &t, most = used;
    }
  const std::size_t tiles = graph.getTarget().getNumTiles();
  std::size_t n = 1;
  for (const std::size_t d : shape) n *= d;
  if (best != nullptr && (most * 2 >= tiles || n < tiles * kFewElementsPerTile || n <= most * kStay))
    return graph.clone(outputType, *best, debugContext);
  const Tensor out = graph.addVariable(outputType, shape, debugContext);
  poputil::mapTensorLinearly(graph, out);
  return out;
}

}  // namespace popops
