// Masks of blocks as programs give them: a byte for each, group after group, row after row.
#pragma once

#include <poplar/Interval.hpp>
#include <popsparse/experimental/BlockSparse.hpp>

#include <cstddef>
#include <vector>

#include "poplibs/popsparse/terms/blocks.h"

namespace popsparse {

struct Mask {
  Shape shape;  // of one group
  std::size_t groups = 1;
  std::vector<Place> places;  // rows of all groups under each other
  std::size_t area() const { return shape.area(); }
};

// Throws poplibs_error, beginning with `function`, for sizes that blocks do not divide, a mask of another size, and bytes beside 0 and 1.
Mask mask_of(const char* function, const Shape& shape, std::size_t groups, const std::vector<unsigned char>& bytes);

// The columns, in elements of the block at `place`, that count in its row `row`.
poplar::Interval counting(const Mask& mask, const Place& place, std::size_t row, experimental::SubBlockMask kind);

}  // namespace popsparse
