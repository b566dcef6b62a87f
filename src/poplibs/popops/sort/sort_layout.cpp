#include <algorithm>

#include "poplibs/popops/sort/sort_rows.h"
#include "poplibs/work.h"

namespace popops::internal {

using namespace poplar;

namespace {

std::size_t ceil_of(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

SortLayout sort_layout(const Target& target, std::size_t rows, std::size_t length, std::size_t least_block) {
  SortLayout l;
  l.rows = rows;
  l.length = length;
  l.tiles = target.getNumTiles();
  // Blocks of a row that use at least nine tenths of the tiles; on one tile, as many as there may be vertices, a power of two.
  std::size_t parts = 1;
  if (l.tiles == 1) {
    while (parts * 2 * rows <= pando::poplibs::vertices_per_tile(target)) parts *= 2;
    least_block = std::max<std::size_t>(least_block, 2048);
    while (parts > 1 && length / parts < least_block) parts /= 2;
  } else if (rows * 10 < std::size_t{l.tiles} * 9) {
    parts = l.tiles / rows;
    if (parts * rows * 10 < std::size_t{l.tiles} * 9) ++parts;
    const std::size_t small = rows * length >= 50000 ? 32 : 256;
    parts = std::clamp<std::size_t>(length / std::max(small, least_block), 1, parts);
  }
  l.block = std::max<std::size_t>(1, ceil_of(length, parts));
  l.parts = std::max<std::size_t>(1, ceil_of(length, l.block));
  return l;
}

std::vector<SortUnit> sort_units(const Target& target, const SortLayout& l) {
  std::vector<SortUnit> out;
  if (l.parts > 1) {
    for (std::size_t r = 0; r < l.rows; ++r)
      for (std::size_t p = 0; p < l.parts; ++p) out.push_back({l.tile(r, p), r, r + 1, p});
    return out;
  }
  for (std::size_t row = 0; row < l.rows;) {
    std::size_t end = row;
    while (end < l.rows && l.tile(end, 0) == l.tile(row, 0)) ++end;
    const std::size_t most = std::max<std::size_t>(1, (end - row) * l.length / 32);
    const std::size_t units = std::min({most, end - row, std::size_t{pando::poplibs::vertices_per_tile(target)}});
    for (std::size_t u = 0; u < units; ++u)
      out.push_back({l.tile(row, 0), row + (end - row) * u / units, row + (end - row) * (u + 1) / units, 0});
    row = end;
  }
  return out;
}

std::vector<std::vector<std::pair<unsigned, unsigned>>> merge_exchange(unsigned n) {
  std::vector<std::vector<std::pair<unsigned, unsigned>>> stages;
  unsigned top = 1;
  while (2 * top < n) top *= 2;
  if (n < 2) return stages;
  for (unsigned p = top; p > 0; p /= 2)
    for (unsigned q = top, r = 0, d = p;; q /= 2) {
      stages.emplace_back();
      for (unsigned i = 0; i + d < n; ++i)
        if ((i & p) == r) stages.back().emplace_back(i, i + d);
      if (q == p) break;
      d = q - p;
      r = p;
    }
  return stages;
}

Tensor like_blocks(Graph& graph, const Type& type, const SortLayout& l, std::size_t width, const DebugContext& debug) {
  const Tensor t = graph.addVariable(type, {l.rows, l.parts * width}, debug);
  Graph::TileToTensorMapping mapping(l.tiles);
  for (std::size_t i = 0; i < l.rows * l.parts; ++i) {
    auto& list = mapping[l.tile(i / l.parts, i % l.parts)];
    if (list.empty())
      list.emplace_back(i * width, (i + 1) * width);
    else
      list.back() = Interval(list.back().begin(), (i + 1) * width);
  }
  graph.setTileMapping(t, mapping);
  return t;
}

}  // namespace popops::internal
