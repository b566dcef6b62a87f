#include "poplibs/poplin/matmul/terms/layout.h"

#include <algorithm>
#include <array>

namespace poplin::internal::matmul {
namespace {

using poplar::Tensor;

bool is_even(const Axis& axis) { return axis.size % axis.block == 0 && axis.block % axis.piece == 0; }

// {groups, rows, columns} cut into equal pieces of r x c: the pieces' order is group, row piece, column piece.
Tensor cut_evenly(const Tensor& t, std::size_t r, std::size_t c) {
  if (t.dim(1) == r && t.dim(2) == c) return t.flatten();
  return t.reshape({t.dim(0), t.dim(1) / r, r, t.dim(2) / c, c}).dimShuffle({0, 1, 3, 2, 4}).flatten();
}

Tensor join_evenly(const Tensor& flat, std::size_t groups, std::size_t rows, std::size_t columns, std::size_t r, std::size_t c) {
  if (rows == r && columns == c) return flat.reshape({groups, rows, columns});
  return flat.reshape({groups, rows / r, columns / c, r, c}).dimShuffle({0, 1, 3, 2, 4}).reshape({groups, rows, columns});
}

// One block {groups, rows, columns}.
Tensor cut(const Tensor& t, std::size_t r, std::size_t c) {
  if (t.dim(1) % r == 0 && t.dim(2) % c == 0) return cut_evenly(t, r, c);
  std::vector<Tensor> parts;
  for (std::size_t g = 0; g < t.dim(0); ++g)
    for (std::size_t y = 0; y < t.dim(1); y += r) {
      const Tensor strip = t[g].slice(y, std::min(t.dim(1), y + r));
      for (std::size_t x = 0; x < t.dim(2); x += c) parts.push_back(strip.slice(x, std::min(t.dim(2), x + c), 1).flatten());
    }
  return poplar::concat(parts);
}

Tensor join(const Tensor& flat, std::size_t groups, std::size_t rows, std::size_t columns, std::size_t r, std::size_t c) {
  if (rows % r == 0 && columns % c == 0) return join_evenly(flat, groups, rows, columns, r, c);
  std::vector<Tensor> matrices;
  std::size_t at = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<Tensor> strips;
    for (std::size_t y = 0; y < rows; y += r) {
      std::vector<Tensor> row;
      const std::size_t height = std::min(r, rows - y);
      for (std::size_t x = 0; x < columns; x += c) {
        const std::size_t width = std::min(c, columns - x);
        row.push_back(flat.slice(at, at + height * width).reshape({height, width}));
        at += height * width;
      }
      strips.push_back(poplar::concat(row, 1));
    }
    matrices.push_back(poplar::concat(strips, 0).expand({0}));
  }
  return poplar::concat(matrices, 0);
}

}  // namespace

std::size_t Layout::block_at(std::size_t group, std::size_t row_block, std::size_t column_block) const {
  const std::size_t height = rows.extent(row_block), width = columns.extent(column_block);
  return groups * (rows.begin(row_block) * columns.size + height * columns.begin(column_block)) + group * height * width;
}

std::size_t Layout::piece_at(std::size_t group, std::size_t row_block, std::size_t column_block, std::size_t row_piece,
                             std::size_t column_piece) const {
  return block_at(group, row_block, column_block) + row_piece * rows.piece * columns.extent(column_block) +
         rows.piece_extent(row_block, row_piece) * column_piece * columns.piece;
}

void Layout::for_each_piece(const Visit& visit) const {
  std::size_t begin = 0;
  for (std::size_t y = 0; y < rows.blocks(); ++y)
    for (std::size_t x = 0; x < columns.blocks(); ++x)
      for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t py = 0; py < rows.pieces(y); ++py)
          for (std::size_t px = 0; px < columns.pieces(x); ++px) {
            const std::size_t elements = rows.piece_extent(y, py) * columns.piece_extent(x, px);
            visit(g, y, x, py, px, begin, elements);
            begin += elements;
          }
}

Tensor to_flat(const Layout& layout, const Tensor& matrix) {
  const Axis &rows = layout.rows, &columns = layout.columns;
  if (layout.size() == 0) return matrix.flatten();
  if (is_even(rows) && is_even(columns)) {
    const std::size_t r = rows.block / rows.piece, c = columns.block / columns.piece;
    return matrix.reshape({layout.groups, rows.blocks(), r, rows.piece, columns.blocks(), c, columns.piece})
        .dimShuffle({1, 4, 0, 2, 5, 3, 6})
        .flatten();
  }
  std::vector<Tensor> parts;
  for (std::size_t y = 0; y < rows.blocks(); ++y) {
    const Tensor strip = matrix.slice(rows.begin(y), rows.begin(y) + rows.extent(y), 1);
    for (std::size_t x = 0; x < columns.blocks(); ++x)
      parts.push_back(cut(strip.slice(columns.begin(x), columns.begin(x) + columns.extent(x), 2), std::min(rows.piece, rows.extent(y)),
                          std::min(columns.piece, columns.extent(x))));
  }
  return poplar::concat(parts);
}

Tensor from_flat(const Layout& layout, const Tensor& flat) {
  const Axis &rows = layout.rows, &columns = layout.columns;
  if (layout.size() == 0) return flat.reshape({layout.groups, rows.size, columns.size});
  if (is_even(rows) && is_even(columns)) {
    const std::size_t r = rows.block / rows.piece, c = columns.block / columns.piece;
    return flat.reshape({rows.blocks(), columns.blocks(), layout.groups, r, c, rows.piece, columns.piece})
        .dimShuffle({2, 0, 3, 5, 1, 4, 6})
        .reshape({layout.groups, rows.size, columns.size});
  }
  std::vector<Tensor> strips;
  for (std::size_t y = 0; y < rows.blocks(); ++y) {
    std::vector<Tensor> strip;
    for (std::size_t x = 0; x < columns.blocks(); ++x) {
      const std::size_t begin = layout.block_at(0, y, x), height = rows.extent(y), width = columns.extent(x);
      strip.push_back(join(flat.slice(begin, begin + layout.groups * height * width), layout.groups, height, width,
                           std::min(rows.piece, height), std::min(columns.piece, width)));
    }
    strips.push_back(poplar::concat(strip, 2));
  }
  return poplar::concat(strips, 1);
}

bool pieces_are_whole(const poplar::Graph& graph, const Layout& layout, const Tensor& flat) {
  if (layout.size() == 0) return true;
  const std::size_t first = layout.rows.piece_extent(0, 0) * layout.columns.piece_extent(0, 0);
  if (!flat.slice(0, first).isContiguous()) return false;
  // An end of a region, or of what one tile has, inside a piece?
  std::vector<std::size_t> ends;
  for (const poplar::Interval& region : flat.getContiguousRegions()) ends.push_back(region.end());
  for (const auto& intervals : graph.getTileMapping(flat))
    for (const poplar::Interval& interval : intervals) ends.push_back(interval.end());
  std::sort(ends.begin(), ends.end());
  std::size_t next = 0;
  bool whole = true;
  layout.for_each_piece([&](std::size_t, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t begin, std::size_t elements) {
    while (next < ends.size() && ends[next] <= begin) ++next;
    if (next < ends.size() && ends[next] < begin + elements) whole = false;
  });
  return whole;
}

}  // namespace poplin::internal::matmul
