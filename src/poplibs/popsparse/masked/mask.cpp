#include "poplibs/popsparse/masked/mask.h"

#include <algorithm>

#include "poplibs/poputil/reject.h"

namespace popsparse {

using poputil::reject;

Mask mask_of(const char* function, const Shape& shape, std::size_t groups, const std::vector<unsigned char>& bytes) {
  if (shape.area() == 0 || shape.rows == 0 || shape.columns == 0 || groups == 0 || shape.rows % shape.block[0] != 0 ||
      shape.columns % shape.block[1] != 0)
    reject("popsparse-blocks", "{}: blocks of {} x {} do not divide {} groups of {} x {}", function, shape.block[0], shape.block[1], groups,
           shape.rows, shape.columns);
  const std::size_t across = shape.block_columns(), down = groups * shape.block_rows();
  if (bytes.size() != across * down)
    reject("popsparse-mask", "{}: the mask has {} bytes; expected {}, one for each of {} x {} blocks", function, bytes.size(),
           across * down, down, across);
  Mask mask{shape, groups, {}};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] > 1) reject("popsparse-mask", "{}: byte {} of the mask is {}; expected 0 or 1", function, i, static_cast<int>(bytes[i]));
    if (bytes[i] == 1) mask.places.push_back({i / across, i % across});
  }
  return mask;
}

poplar::Interval counting(const Mask& mask, const Place& place, std::size_t row, experimental::SubBlockMask kind) {
  const std::size_t width = mask.shape.block[1];
  const std::size_t diagonal = (place.row * mask.shape.block[0] + row) % mask.shape.rows, begin = place.column * width;
  const auto inside = [&](std::size_t column) { return std::clamp(column, begin, begin + width) - begin; };
  switch (kind) {
    case experimental::SubBlockMask::None: return poplar::Interval(0, width);
    case experimental::SubBlockMask::ZeroUpperTriangle: return poplar::Interval(0, inside(diagonal + 1));
    case experimental::SubBlockMask::ZeroLowerTriangle: return poplar::Interval(inside(diagonal), width);
  }
  reject("popsparse-mask", "no such mask of elements");
}

}  // namespace popsparse
