// The indices of rows that lie on a tile. Such rows are few and far apart: what a group of them touches is asked for before the
// first is handled, so that the host waits for all at once.
#pragma once

#include "kernels/rows/search.h"

namespace popops {

// Group by group, in the order of i: early(i, row) for all hits of the group, then now(i, row). A hit is an index rows[i] in
// [first, first + count); row counts from `first`.
template <class Early, class Now>
inline void for_each_hit(const unsigned* rows, unsigned n, unsigned first, unsigned count, Early early, Now now) {
  constexpr unsigned kGroup = 384;
  unsigned hits[kGroup + kPandoSearchSlack];
  for (unsigned begin = 0, seen = 0; begin < n; begin += seen) {
    const unsigned found = pando_find_in_range_u32(rows + begin, n - begin, first, count, hits, kGroup, &seen);
    for (unsigned h = 0; h < found; ++h) early(begin + hits[h], rows[begin + hits[h]] - first);
    for (unsigned h = 0; h < found; ++h) now(begin + hits[h], rows[begin + hits[h]] - first);
  }
}

// Asks for the first lines of an array of n elements.
template <bool kWrite, class T>
inline void ask_for(const T* data, unsigned n) {
  constexpr unsigned kLine = 64, kMost = 4 * kLine;
  const char* at = reinterpret_cast<const char*>(data);
  const unsigned bytes = n * sizeof(T) < kMost ? n * sizeof(T) : kMost;
  for (unsigned i = 0; i < bytes; i += kLine) __builtin_prefetch(at + i, kWrite);
}

template <class T>
inline void copy_row(T* to, const T* from, unsigned n) {
  if (n == 1) {
    *to = *from;
  } else if (n * sizeof(T) % 16 == 0) {
    for (unsigned i = 0; i < n; i += 16 / sizeof(T)) std::memcpy(to + i, from + i, 16);
  } else {
    std::memcpy(to, from, n * sizeof(T));
  }
}

}  // namespace popops
