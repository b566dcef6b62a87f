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

// Four vectors without a hit cost little. Of the others every one is compressed and stored: a branch would be guessed wrong too often.
HWY_ATTR unsigned find_in_range(const uint32_t* values, unsigned n, uint32_t first, uint32_t count, uint32_t* out) {
  const hn::CappedTag<uint32_t, kPandoSearchSlack> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto begin = hn::Set(d, first), size = hn::Set(d, count);
  std::size_t found = 0, i = 0;
  const auto hits = [&](std::size_t at) HWY_ATTR { return hn::Lt(hn::Sub(hn::LoadU(d, values + at), begin), size); };
  const auto add = [&](std::size_t at)
                       HWY_ATTR { found += store_chosen(d, hn::Iota(d, static_cast<uint32_t>(at)), hits(at), out + found); };
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    if (hn::AllFalse(d, hn::Or(hn::Or(hits(i), hits(i + lanes)), hn::Or(hits(i + 2 * lanes), hits(i + 3 * lanes))))) continue;
    for (std::size_t k = 0; k < 4; ++k) add(i + k * lanes);
  }
  for (; i + lanes <= n; i += lanes) add(i);
  for (; i < n; ++i) {
    out[found] = static_cast<uint32_t>(i);
    found += values[i] - first < count;
  }
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

unsigned pando_find_in_range_u32(const uint32_t* values, unsigned n, uint32_t first, uint32_t count, uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(find_in_range)(values, n, first, count, out);
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
