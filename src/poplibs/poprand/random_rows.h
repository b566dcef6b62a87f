// What the vertices share: rows of elements that follow one another in the reference tensor, each with the place of its first.
#pragma once

#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/random.h"

namespace poprand {

// `places` holds two words per row: the low and the high half of the place of its first element.
template <class Places>
std::uint64_t place_of(const Places& places, unsigned row) {
  return places[2 * row] | static_cast<std::uint64_t>(places[2 * row + 1]) << 32;
}

// Fills a row through `make(first, n, float* to)`; other types than float by way of a buffer and `convert`.
template <class T, class Make, class Convert>
void fill_row(T* out, std::uint64_t first, std::uint64_t n, const Make& make, const Convert& convert) {
  constexpr std::uint64_t kBuffer = 512;
  alignas(64) float values[kBuffer];
  for (std::uint64_t done = 0; done < n; done += kBuffer) {
    const std::uint64_t count = n - done < kBuffer ? n - done : kBuffer;
    make(first + done, count, values);
    for (std::uint64_t i = 0; i < count; ++i) out[done + i] = convert(values[i]);
  }
}

template <class Make, class Convert>
void fill_row(float* out, std::uint64_t first, std::uint64_t n, const Make& make, const Convert&) {
  make(first, n, out);
}

}  // namespace poprand
