#include "transform/distribute/parts.h"

#include <algorithm>

namespace pando::transform {

namespace {

// f(position in the box, position in the whole), row by row: rows of both are contiguous.
template <class F>
void for_each_row(const ir::Shape& whole, const ir::Shape& start, const ir::Shape& shape, F f) {
  const std::int64_t row = shape.empty() ? 1 : shape.back(), rows = ir::elements_of(shape) / std::max<std::int64_t>(1, row);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t at = shape.empty() ? 0 : start.back(), stride = shape.empty() ? 1 : whole.back(), rest = i;
    for (std::size_t d = shape.size() - (shape.empty() ? 0 : 1); d-- > 0;) {
      at += (start[d] + rest % shape[d]) * stride;
      rest /= shape[d];
      stride *= whole[d];
    }
    f(i * row, at, row);
  }
}

}  // namespace

ir::HostTensor part_of(const ir::HostTensor& whole, const ir::Shape& start, const ir::Shape& shape) {
  if (whole.shape() == shape) return whole;
  ir::HostTensor part(whole.dtype(), shape);
  const std::size_t size = size_of(whole.dtype());
  std::byte* to = part.writable();
  for_each_row(whole.shape(), start, shape, [&](std::int64_t in_part, std::int64_t in_whole, std::int64_t n) {
    std::copy_n(whole.data() + static_cast<std::size_t>(in_whole) * size, static_cast<std::size_t>(n) * size,
                to + static_cast<std::size_t>(in_part) * size);
  });
  return part;
}

void put_part(ir::HostTensor& whole, const ir::HostTensor& part, const ir::Shape& start) {
  const std::size_t size = size_of(whole.dtype());
  std::byte* to = whole.writable();
  for_each_row(whole.shape(), start, part.shape(), [&](std::int64_t in_part, std::int64_t in_whole, std::int64_t n) {
    std::copy_n(part.data() + static_cast<std::size_t>(in_part) * size, static_cast<std::size_t>(n) * size,
                to + static_cast<std::size_t>(in_whole) * size);
  });
}

}  // namespace pando::transform
