#include "lower/terms/moving.h"

#include <popops/Rearrange.hpp>
#include <poputil/TileMapping.hpp>

#include <numeric>
#include <utility>
#include <vector>

namespace pando::lower {

namespace {

// Fewer are moved one by one in no time.
constexpr std::size_t kMany = 1 << 14;
// Elements of a piece, on average, of what lies apart.
constexpr std::size_t kFew = 4;

poplar::Tensor swapped(const poplar::Tensor& t) {
  std::vector<unsigned> order(t.rank());
  std::iota(order.begin(), order.end(), 0u);
  std::swap(order[t.rank() - 1], order[t.rank() - 2]);
  return t.dimShuffle(order);
}

bool lies_apart(const poplar::Tensor& t) { return t.getContiguousRegions().size() * kFew > t.numElements(); }

}  // namespace

bool lies_turned(const poplar::Tensor& t) {
  if (t.rank() < 2 || t.numElements() < kMany || t.isContiguous()) return false;
  return lies_apart(t.flatten()) && !lies_apart(swapped(t).flatten());
}

poplar::Tensor in_rows(poplar::Graph& graph, const poplar::Tensor& turned, poplar::program::Sequence& prog, const std::string& name) {
  const poplar::ComputeSet set = graph.addComputeSet(name + "/turn");
  const poplar::Tensor blocks = popops::rearrange::partialTranspose(graph, swapped(turned), set, name + "/blocks");
  prog.add(poplar::program::Execute(set));
  const poplar::Tensor rows = graph.addVariable(turned.elementType(), turned.shape(), name + "/rows");
  poputil::mapTensorLinearly(graph, rows);
  prog.add(poplar::program::Copy(blocks, rows));
  return rows;
}

}  // namespace pando::lower
