#include "kernels/sort.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace {

// Byte by byte, from the lowest; a byte that is the same in all keys costs nothing but the counting, which is done for all at once.
template <class T>
void radix_sort(T* keys, unsigned n) {
  constexpr unsigned kDigits = sizeof(T);
  std::array<std::array<unsigned, 256>, kDigits> counts{};
  for (unsigned i = 0; i < n; ++i)
    for (unsigned d = 0; d < kDigits; ++d) ++counts[d][(keys[i] >> (8 * d)) & 255];
  const std::unique_ptr<T[]> scratch(new T[n]);
  T *from = keys, *to = scratch.get();
  for (unsigned d = 0; d < kDigits; ++d) {
    auto& next = counts[d];
    if (next[(from[0] >> (8 * d)) & 255] == n) continue;
    unsigned begin = 0;
    for (unsigned& c : next) {
      const unsigned here = c;
      c = begin;
      begin += here;
    }
    for (unsigned i = 0; i < n; ++i) to[next[(from[i] >> (8 * d)) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != keys) std::copy(from, from + n, keys);
}

template <class T>
void sort(T* keys, unsigned n) {
  constexpr unsigned kFew = 64 * sizeof(T);  // below, comparing costs less than counting
  if (n <= kFew) std::sort(keys, keys + n);
  else radix_sort(keys, n);
}

// Candidates are what is less than the k-th least so far; when there are too many of them, all but k go.
template <class T>
void least(const T* in, unsigned n, T* out, unsigned k) {
  if (k == 0) return;
  const std::size_t room = std::min<std::size_t>(n, 2 * std::size_t{k} + 64);
  std::vector<T> some(in, in + room);
  const auto keep = [&] { std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(k - 1), some.end()); };
  keep();
  T limit = some[k - 1];
  std::size_t size = k;
  for (std::size_t i = room; i < n; ++i) {
    if (in[i] >= limit) continue;
    some[size++] = in[i];
    if (size < room) continue;
    keep();
    limit = some[k - 1];
    size = k;
  }
  some.resize(std::max<std::size_t>(size, k));
  keep();
  sort(some.data(), k);
  std::copy(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(k), out);
}

}  // namespace

void pando_sort_u32(uint32_t* keys, unsigned n) { sort(keys, n); }
void pando_sort_u64(uint64_t* keys, unsigned n) { sort(keys, n); }
void pando_least_u32(const uint32_t* in, unsigned n, uint32_t* out, unsigned k) { least(in, n, out, k); }
void pando_least_u64(const uint64_t* in, unsigned n, uint64_t* out, unsigned k) { least(in, n, out, k); }
