// What vertices of sparse products cost, in instructions of a worker: for estimates, and for plans.
#pragma once

#include <cstddef>

namespace popsparse {

// One block times `width` columns. Blocks of 16 elements and more go through the unit that multiplies matrices: 64 products of halfs, or 16
// of floats, an instruction, behind 8 bytes of the block loaded at a time. Smaller ones take a pass over the columns for each element, two
// floats or four halfs at a time.
inline double block_instructions(std::size_t area, std::size_t width, std::size_t element_bytes) {
  const bool half = element_bytes < 4;
  const auto a = static_cast<double>(area), w = static_cast<double>(width);
  if (area >= 16) return 20 + a * static_cast<double>(element_bytes) / 8 + a * w / (half ? 64 : 16);
  const std::size_t lanes = half ? 4 : 2;
  return 10 + a * (6 + 1.5 * static_cast<double>((width + lanes - 1) / lanes));
}

}  // namespace popsparse
