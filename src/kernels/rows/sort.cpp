#include "kernels/rows/sort.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/rows/search.h"

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
  if (n <= kFew)
    std::sort(keys, keys + n);
  else
    radix_sort(keys, n);
}

unsigned find_at_most(const uint32_t* in, unsigned n, uint32_t limit, uint32_t* out) { return pando_find_at_most_u32(in, n, limit, out); }
unsigned find_at_most(const uint64_t* in, unsigned n, uint64_t limit, uint64_t* out) { return pando_find_at_most_u64(in, n, limit, out); }

// Candidates are what is within the limit; when there are too many of them, all but the k least go, and the limit with them.
template <class T>
void least(const T* in, unsigned n, T limit, T* out, unsigned k) {
  if (k == 0) return;
  constexpr std::size_t kPiece = 256, kOnStack = 1024;
  const std::size_t room = 2 * std::size_t{k} + kPiece;
  std::array<T, kOnStack> on_stack;
  std::vector<T> on_heap(room + kPandoSearchSlack > kOnStack ? room + kPandoSearchSlack : 0);
  T* const some = on_heap.empty() ? on_stack.data() : on_heap.data();
  std::size_t size = 0;
  const auto keep = [&] {
    if (size <= k) return;
    std::nth_element(some, some + (k - 1), some + size);
    size = k;
  };
  for (std::size_t i = 0; i < n; i += kPiece) {
    size += find_at_most(in + i, static_cast<unsigned>(std::min<std::size_t>(kPiece, n - i)), limit, some + size);
    if (size + kPiece <= room) continue;
    keep();
    if (size < k) continue;
    if (some[k - 1] == 0) break;
    limit = some[k - 1] - 1;
  }
  keep();
  sort(some, static_cast<unsigned>(size));
  std::copy(some, some + size, out);
  std::fill(out + size, out + k, static_cast<T>(~T{0}));
}

}  // namespace

void pando_sort_u32(uint32_t* keys, unsigned n) { sort(keys, n); }
void pando_sort_u64(uint64_t* keys, unsigned n) { sort(keys, n); }
void pando_least_u32(const uint32_t* in, unsigned n, uint32_t limit, uint32_t* out, unsigned k) { least(in, n, limit, out, k); }
void pando_least_u64(const uint64_t* in, unsigned n, uint64_t limit, uint64_t* out, unsigned k) { least(in, n, limit, out, k); }
