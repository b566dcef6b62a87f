// The order in which a plan keeps a grouped matrix: block after block, each block piece after piece, each piece one contiguous
// row-major matrix that lies on one tile.
//
//     rows 5 = block 3 + 2, pieces of 2; columns 4 = block 4, pieces of 2:
//
//         p0 p0 p1 p1      a flat tensor holds  p0 (2 x 2) p1 (2 x 2) p2 (1 x 2) p3 (1 x 2) p4 (2 x 2) p5 (2 x 2)
//         p0 p0 p1 p1      with several groups, each block has the pieces of its first group, then those of the next
//         p2 p2 p3 p3
//         -----------
//         p4 p4 p5 p5
//         p4 p4 p5 p5
#pragma once

#include <poplar/Graph.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace poplin::internal::matmul {

// How many `d` hold `n`.
constexpr std::size_t up(std::size_t n, std::size_t d) { return (n + d - 1) / d; }

// A dimension in blocks of `block` (the last may be smaller), each in pieces of `piece` (each block's last may be smaller).
struct Axis {
  std::size_t size = 0, block = 1, piece = 1;
  std::size_t blocks() const { return (size + block - 1) / block; }
  std::size_t begin(std::size_t b) const { return b * block; }
  std::size_t extent(std::size_t b) const { return b * block + block <= size ? block : size - b * block; }
  std::size_t pieces(std::size_t b) const { return (extent(b) + piece - 1) / piece; }
  std::size_t piece_extent(std::size_t b, std::size_t p) const { return p * piece + piece <= extent(b) ? piece : extent(b) - p * piece; }
};

struct Layout {
  std::size_t groups = 1;
  Axis rows, columns;

  std::size_t size() const { return groups * rows.size * columns.size; }
  // Where in the flat tensor the pieces of a group's block begin, and one of them.
  std::size_t block_at(std::size_t group, std::size_t row_block, std::size_t column_block) const;
  std::size_t piece_at(std::size_t group, std::size_t row_block, std::size_t column_block, std::size_t row_piece,
                       std::size_t column_piece) const;
  // visit(group, row block, column block, row piece, column piece, begin, elements), in the flat tensor's order.
  using Visit = std::function<void(std::size_t, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t)>;
  void for_each_piece(const Visit& visit) const;
};

// The elements of a tensor {groups, rows, columns} in the layout's order, and back.
poplar::Tensor to_flat(const Layout& layout, const poplar::Tensor& matrix);
poplar::Tensor from_flat(const Layout& layout, const poplar::Tensor& flat);

// Is every piece of this flat tensor one contiguous region on one tile?
bool pieces_are_whole(const poplar::Graph& graph, const Layout& layout, const poplar::Tensor& flat);

}  // namespace poplin::internal::matmul
