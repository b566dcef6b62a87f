// How a product with a known sparse matrix is cut over tiles: shares of its blocks, each with some columns of the dense side.
#pragma once

#include <poplar/Interval.hpp>
#include <poplar/Target.hpp>

#include <cstddef>
#include <vector>

#include "poplibs/popsparse/known/product.h"

namespace popsparse {

// Blocks order[begin, end), all of some lines (rows; of the transpose, columns) or a part of one line.
struct Share {
  std::size_t begin = 0, end = 0;
  std::size_t first_line = 0, lines = 0;
  bool part = false;  // of one line that other shares have, too
};

struct Shares {
  std::vector<std::size_t> order;          // the matrix's blocks, line after line
  std::vector<Share> shares;               // lines ascend; every line is in one, or in neighbouring parts
  std::size_t width_parts = 1, width = 0;  // columns of the dense side: parts, and of one at most
  std::size_t all_width = 0;
  poplar::Interval width_of(std::size_t part) const;
  std::size_t tiles = 1;
  unsigned tile(std::size_t share, std::size_t width_part) const {
    return static_cast<unsigned>((share * width_parts + width_part) % tiles);
  }
};

Shares make_shares(const poplar::Target& target, const Known& matrix, std::size_t width, bool transposed, const poplar::Type& type,
                   const Options& options);

}  // namespace popsparse
