// Matrices that lie in blocks, each one contiguous and row-major, as products of networks keep them: the order of their elements block by
// block.
//
//     columns 4, blocks of 2 x 2:    0  1 |  4  5
//                                    2  3 |  6  7
//                                   ------+------
//                                    8  9 | 10 11     the last rows, and the last columns, may be fewer
#pragma once

#include <poplar/Tensor.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace popops::internal {

struct BlockOrder {
  std::size_t rows = 0, columns = 0, height = 0, width = 0;

  struct Block {
    std::size_t begin = 0, end = 0;   // in the order
    std::size_t row = 0, column = 0;  // of its first element
    std::size_t width = 0;
  };
  // The block of an element.
  Block at(std::size_t position) const;
  // The elements of a tensor {rows, columns} in this order.
  poplar::Tensor apply(const poplar::Tensor& matrix) const;
};

// As the first block shows. None if it is too small for a vertex.
std::optional<BlockOrder> block_order_of(const poplar::Tensor& matrix);

// The dimensions of a tensor, those whose neighbours lie farthest apart first.
std::vector<unsigned> memory_order(const poplar::Tensor& t);

}  // namespace popops::internal
