#include "popops/CircBuf.hpp"

#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <poputil/TileMapping.hpp>

#include "poplibs/popops/data/parts.h"

namespace popops {

namespace {

using namespace poplar;

// (index + shift) % size.
expr::Rem shifted(unsigned shift, unsigned size) { return expr::Rem(expr::Add(expr::_1, expr::Const(shift)), expr::Const(size)); }

}  // namespace

CircBuf::CircBuf(Graph& graph, const Type& type, unsigned size, const std::vector<std::size_t>& shape, const DebugContext& debug)
    : graph(graph), size_(size), shape(shape) {
  if (size == 0) internal::fail("popops::CircBuf", "a size of 0");
  std::size_t n = 1;
  for (const std::size_t d : shape) n *= d;
  hist = graph.addVariable(type, {size, n}, {debug, "hist"});
  if (n != 0) {
    const auto mapping = poputil::calcLinearTileMapping(graph, hist[0]);
    for (unsigned place = 0; place < size; ++place) graph.setTileMapping(hist[place], mapping);
  }
  index = graph.addVariable(UNSIGNED_INT, {1}, {debug, "index"});
  graph.setTileMapping(index, 0);
  graph.setInitialValue(index, 0u);
}

Tensor CircBuf::prev(unsigned i, program::Sequence& seq, const DebugContext& debug) {
  if (i >= size_)
    internal::fail("popops::CircBuf::prev", std::to_string(i) + " additions before the newest in a buffer of " + std::to_string(size_));
  const Tensor place = i == 0 ? index : map(graph, shifted(size_ - i, size_), {index}, seq, {debug, "place"});
  return dynamicSlice(graph, hist, place, {0}, {1}, seq, {debug, "CircBuf/prev"}).reshape(shape);
}

void CircBuf::add(Tensor t, program::Sequence& seq, const DebugContext& debug) {
  if (t.shape() != shape || t.elementType() != hist.elementType())
    internal::fail("popops::CircBuf::add", "a tensor of type " + t.elementType().toString() + " and shape " + t.shapeToString() +
                                               "; expected type " + hist.elementType().toString() + " and shape " +
                                               hist[0].reshape(shape).shapeToString());
  mapInPlace(graph, shifted(1, size_), {index}, seq, {debug, "next"});
  dynamicUpdate(graph, hist, t.reshape({1, t.numElements()}), index, {0}, {1}, seq, {debug, "CircBuf/add"});
}

Tensor CircBuf::getIndex() const { return index; }

unsigned CircBuf::size() const { return size_; }

Graph::TileToTensorMapping CircBuf::getTileMapping() { return graph.getTileMapping(hist[0]); }

}  // namespace popops
