#include "kernels/rows/search.h"

#include <algorithm>
#include <cstddef>

#include "kernels/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/search.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Stores the chosen elements, and others behind them, which the caller overwrites; returns how many are chosen. Some processors take over a
// hundred cycles to compress to memory, and a few to compress in registers.
template <class D, class V, class M>
HWY_ATTR HWY_INLINE std::size_t store_chosen(D d, V v, M chosen, hn::TFromD<D>* out) {
  hn::StoreU(hn::Compress(v, chosen), d, out);
  return hn::CountTrue(d, chosen);
}

// Many vectors without a hit cost little: the least of all distances tells. Of the others every one is compressed and stored: a branch
// would be guessed wrong too often.
HWY_ATTR unsigned find_in_range(const uint32_t* values, unsigned n, uint32_t first, uint32_t count, uint32_t* out, unsigned most,
                                unsigned* seen) {
  const hn::CappedTag<uint32_t, kPandoSearchSlack> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto begin = hn::Set(d, first), size = hn::Set(d, count);
  std::size_t found = 0, i = 0;
  const auto distance = [&](std::size_t at) HWY_ATTR { return hn::Sub(hn::LoadU(d, values + at), begin); };
  const auto add = [&](std::size_t at) HWY_ATTR {
    found += store_chosen(d, hn::Iota(d, static_cast<uint32_t>(at)), hn::Lt(distance(at), size), out + found);
  };
  constexpr std::size_t kAtOnce = 8;
  constexpr int kFewHits = 8;
  for (; i + kAtOnce * lanes <= n && found + kAtOnce * lanes <= most; i += kAtOnce * lanes) {
    const auto least = [&](std::size_t k) HWY_ATTR { return hn::Min(distance(i + k * lanes), distance(i + (k + 1) * lanes)); };
    if (hn::AllFalse(d, hn::Lt(hn::Min(hn::Min(least(0), least(2)), hn::Min(least(4), least(6))), size))) continue;
    std::uint64_t bits[2] = {0, 0};
    if (lanes % 8 == 0)  // whole bytes
      for (std::size_t k = 0; k < kAtOnce; ++k)
        hn::StoreMaskBits(d, hn::Lt(distance(i + k * lanes), size), reinterpret_cast<std::uint8_t*>(bits) + k * lanes / 8);
    const int hits = __builtin_popcountll(bits[0]) + __builtin_popcountll(bits[1]);
    if (hits == 0 || hits > kFewHits) {
      for (std::size_t k = 0; k < kAtOnce; ++k) add(i + k * lanes);
      continue;
    }
    for (unsigned w = 0; w < 2; ++w)
      for (; bits[w] != 0; bits[w] &= bits[w] - 1)
        out[found++] = static_cast<uint32_t>(i + 64 * w) + static_cast<uint32_t>(__builtin_ctzll(bits[w]));
  }
  for (; i + lanes <= n && found + lanes <= most; i += lanes) add(i);
  for (; i < n && found < most; ++i) {
    out[found] = static_cast<uint32_t>(i);
    found += values[i] - first < count;
  }
  *seen = static_cast<unsigned>(i);
  return static_cast<unsigned>(found);
}

template <class T>
HWY_ATTR HWY_INLINE unsigned find_at_most(const T* values, unsigned n, T limit, T* out) {
  const hn::CappedTag<T, kPandoSearchSlack> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto most = hn::Set(d, limit);
  std::size_t found = 0, i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, values + i);
    found += store_chosen(d, v, hn::Not(hn::Lt(most, v)), out + found);
  }
  for (; i < n; ++i) {
    out[found] = values[i];
    found += values[i] <= limit;
  }
  return static_cast<unsigned>(found);
}

template <class T>
HWY_ATTR HWY_INLINE T minimum(const T* values, unsigned n) {
  const hn::CappedTag<T, kPandoSearchSlack> d;
  const std::size_t lanes = hn::Lanes(d);
  T least = values[0];
  std::size_t i = 0;
  if (n >= lanes) {
    auto v = hn::LoadU(d, values);
    for (i = lanes; i + lanes <= n; i += lanes) v = hn::Min(v, hn::LoadU(d, values + i));
    HWY_ALIGN T parts[hn::MaxLanes(hn::CappedTag<T, kPandoSearchSlack>())];
    hn::Store(v, d, parts);
    least = *std::min_element(parts, parts + lanes);
  }
  for (; i < n; ++i) least = std::min(least, values[i]);
  return least;
}

HWY_ATTR unsigned find_at_most_u32(const uint32_t* v, unsigned n, uint32_t limit, uint32_t* out) { return find_at_most(v, n, limit, out); }
HWY_ATTR unsigned find_at_most_u64(const uint64_t* v, unsigned n, uint64_t limit, uint64_t* out) { return find_at_most(v, n, limit, out); }
HWY_ATTR uint32_t minimum_u32(const uint32_t* v, unsigned n) { return minimum(v, n); }
HWY_ATTR uint64_t minimum_u64(const uint64_t* v, unsigned n) { return minimum(v, n); }

}  // namespace pando::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {

HWY_EXPORT(find_in_range);
HWY_EXPORT(find_at_most_u32);
HWY_EXPORT(find_at_most_u64);
HWY_EXPORT(minimum_u32);
HWY_EXPORT(minimum_u64);

}  // namespace pando::kernels

using namespace pando::kernels;

unsigned pando_find_in_range_u32(const uint32_t* values, unsigned n, uint32_t first, uint32_t count, uint32_t* out, unsigned most,
                                 unsigned* seen) {
  return HWY_DYNAMIC_DISPATCH(find_in_range)(values, n, first, count, out, most, seen);
}
unsigned pando_find_at_most_u32(const uint32_t* values, unsigned n, uint32_t limit, uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(find_at_most_u32)(values, n, limit, out);
}
unsigned pando_find_at_most_u64(const uint64_t* values, unsigned n, uint64_t limit, uint64_t* out) {
  return HWY_DYNAMIC_DISPATCH(find_at_most_u64)(values, n, limit, out);
}
uint32_t pando_minimum_u32(const uint32_t* values, unsigned n) { return HWY_DYNAMIC_DISPATCH(minimum_u32)(values, n); }
uint64_t pando_minimum_u64(const uint64_t* values, unsigned n) { return HWY_DYNAMIC_DISPATCH(minimum_u64)(values, n); }
#endif
