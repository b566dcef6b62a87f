#include "poplibs/poplin/matmul/begin.h"

#include <pando/mapping.hpp>
#include <pando/placing.hpp>

#include <optional>
#include <utility>

#include "poplibs/poputil/reject.h"

namespace poplin::internal::matmul {
namespace {

using pando::TileBytes;
using poplar::Graph;
using poplar::Tensor;

// Bytes that an operand's piece takes of its vertex's tile: where it lies, and the code that brings it. And what any vertex takes.
constexpr std::size_t kPieceBytes = 16, kVertexBytes = 48;
// Results are live for some steps: so much of them counts (pando::resident_bytes).
constexpr std::size_t kLiveShare = 16;

// The tile of the first element, in the numbers of the graph.
std::optional<unsigned> first_tile_of(const Graph& graph, const Tensor& t) {
  if (t.numElements() == 0) return std::nullopt;
  const auto where = pando::tile_intervals(graph, t.flatten().slice(0, 1));
  return where.empty() ? std::nullopt : std::optional(where[0].tile);
}

std::size_t vertex_bytes(const Problem& p, const Blocks& c) {
  // Pieces along the depth: columns of A's blocks, rows of B's.
  const std::size_t pieces = up(p.k, 64) * up(c.r, 32) + up(p.k, 32) * up(c.c, 64);
  return kVertexBytes + kPieceBytes * pieces;
}

}  // namespace

unsigned rotation_of_new(const Graph& graph, const Blocks& blocks, const poplar::Type& type) {
  return pando::choose_rotation(graph, form_of(blocks, graph.getTarget(), graph.getTarget().getTypeSize(type), 1, 0));
}

unsigned rotation_of_new(const Graph& graph, const Product& product, const poplar::Type& type, std::size_t elements) {
  return pando::choose_rotation(graph, product.form(elements * graph.getTarget().getTypeSize(type)));
}

unsigned rotation_in_blocks(const Graph& graph, const Problem& p, const Tensor& b) {
  const poplar::Target& target = graph.getTarget();
  const Blocks c = result_blocks(p, target), weights = blocks_of(p.groups, p.k, p.n, target.getNumTiles());
  const unsigned nominal = tile_of_first_block(c, target);
  if (p.options.first_tile) {
    if (*p.options.first_tile >= target.getNumTiles())
      poputil::reject_option("option-value", "Invalid value '{}' for option 'pando.firstTile': expected a tile, there are {}",
                             *p.options.first_tile, target.getNumTiles());
    return pando::rotation_between(graph, nominal, *p.options.first_tile);
  }
  if (c.count() == 1 && weights.valid() && weights.count() == 1)
    if (const auto tile = first_tile_of(graph, b)) return pando::rotation_between(graph, nominal, *tile);
  return pando::choose_rotation(graph, form_of(c, target, target.getTypeSize(p.output), kLiveShare, vertex_bytes(p, c)));
}

unsigned rotation_by_plan(const Graph& graph, const Oriented& o, const Tensor& out) {
  if (out.valid())
    if (const Tensor whole = flat_if_whole(graph, o.product.result(), out); whole.valid())
      return pando::rotation_between(graph, 0, first_tile_of(graph, whole).value_or(0));
  using Operand = std::pair<const Tensor*, const Layout*>;
  Operand larger{&o.first, &o.product.first()}, smaller{&o.second, &o.product.second()};
  if (o.second.numElements() >= o.first.numElements()) std::swap(larger, smaller);
  for (const auto& [t, layout] : {larger, smaller}) {
    const Tensor whole = flat_if_whole(graph, *layout, *t);
    if (!whole.valid()) continue;
    if (const auto tile = first_tile_of(graph, whole)) return pando::rotation_between(graph, 0, *tile);
  }
  return pando::choose_rotation(graph, o.product.form(kVertexBytes * o.product.tiles_used()));
}

}  // namespace poplin::internal::matmul
