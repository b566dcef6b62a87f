#include "poplibs/popsparse/known/shares.h"

#include <pando/cpu_device.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

#include "poplibs/popsparse/terms/cost.h"
#include "poplibs/work.h"

namespace popsparse {
namespace {

using pando::poplibs::ceil_div;

// Whole lines as long as they have at most `most` blocks together; a line with more is cut.
std::vector<Share> cut(const std::vector<std::size_t>& blocks_of_line, std::size_t most) {
  std::vector<Share> shares;
  Share open;
  const auto close = [&] {
    if (open.lines > 0) shares.push_back(open);
    open = {open.end, open.end, open.first_line + open.lines, 0, false};
  };
  for (const std::size_t blocks : blocks_of_line) {
    if (open.lines > 0 && open.end - open.begin + blocks > most) close();
    if (blocks > 2 * most) {
      const std::size_t parts = ceil_div(blocks, most), size = ceil_div(blocks, parts);
      const std::size_t begin = open.begin, line = open.first_line;
      for (std::size_t at = 0; at < blocks; at += size) shares.push_back({begin + at, begin + std::min(blocks, at + size), line, 1, true});
      open = {begin + blocks, begin + blocks, line + 1, 0, false};
      continue;
    }
    open.end += blocks, ++open.lines;
  }
  close();
  return shares;
}

// Cycles of the fullest tile, roughly, and of the sums over parts of a line.
double cycles(const std::vector<Share>& shares, std::size_t width, const Shape& shape, std::size_t height, std::size_t element) {
  const auto d = [](std::size_t n) { return static_cast<double>(n); };
  constexpr double kBytesPerCycle = 4, kStep = 300;
  double most = 0;
  std::size_t parts = 0, most_parts = 0;
  for (const Share& s : shares) {
    const std::size_t blocks = s.end - s.begin;
    const double moved = d(blocks) * (d(shape.area()) + d(shape.area() / height) * d(width)) * d(element);
    most = std::max(most, moved / kBytesPerCycle + d(blocks) * block_instructions(shape.area(), width, element));
    parts = s.part ? parts + 1 : 0;
    most_parts = std::max(most_parts, parts);
  }
  return most + (most_parts > 1 ? kStep + d(most_parts * height * width) * 2 : 0);
}

}  // namespace

poplar::Interval Shares::width_of(std::size_t part) const {
  return poplar::Interval(part * width, std::min(all_width, (part + 1) * width));
}

Shares make_shares(const poplar::Target& target, const Known& matrix, std::size_t width, bool transposed, const poplar::Type& type,
                   const Options& options) {
  Shares out;
  out.all_width = width;
  out.tiles = target.getNumTiles();
  out.order.resize(matrix.places.size());
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  if (transposed)
    std::stable_sort(out.order.begin(), out.order.end(),
                     [&](std::size_t a, std::size_t b) { return matrix.places[a].column < matrix.places[b].column; });
  std::vector<std::size_t> blocks_of_line(transposed ? matrix.shape.block_columns() : matrix.shape.block_rows());
  for (const Place& p : matrix.places) ++blocks_of_line[transposed ? p.column : p.row];

  const std::size_t blocks = std::max<std::size_t>(matrix.places.size(), 1), tiles = out.tiles;
  const auto set_width = [&](std::size_t parts) {
    out.width = ceil_div(width, std::min(parts, width));
    out.width_parts = ceil_div(width, out.width);
  };
  if (pando::reads_in_place(target)) {
    set_width(1);
    out.shares = cut(blocks_of_line, std::max(ceil_div(blocks, pando::poplibs::vertices_per_tile(target)), std::size_t{1}));
    return out;
  }
  // Fewer shares until they fit the tiles.
  const auto fitted = [&](std::size_t parts) {
    set_width(parts);
    for (std::size_t most = ceil_div(blocks, std::max<std::size_t>(tiles / out.width_parts, 1));; most += ceil_div(most, 8)) {
      std::vector<Share> shares = cut(blocks_of_line, most);
      if (shares.size() * out.width_parts <= tiles || most > blocks) return shares;
    }
  };
  const std::size_t height = matrix.shape.block[transposed ? 1 : 0];
  std::size_t best = std::min<std::size_t>(options.width_parts, tiles);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t parts = 1; options.width_parts == 0 && parts <= std::min(tiles, width); parts = std::max(parts + 1, parts * 9 / 8)) {
    const std::vector<Share> shares = fitted(parts);
    const double c = cycles(shares, out.width, matrix.shape, height, target.getTypeSize(type));
    if (c < least) least = c, best = parts;
  }
  out.shares = fitted(best);
  return out;
}

}  // namespace popsparse
