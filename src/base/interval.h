// Half-open intervals [begin, end) of 64-bit positions, and small operations on sorted lists of them.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

namespace pando {

struct Interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  constexpr std::uint64_t size() const { return end - begin; }
  constexpr bool empty() const { return end <= begin; }
  constexpr bool overlaps(const Interval& o) const { return begin < o.end && o.begin < end; }
  friend constexpr auto operator<=>(const Interval&, const Interval&) = default;
};

// Sorts, drops empty ones, and joins those that touch or overlap.
inline void normalise(std::vector<Interval>& list) {
  std::erase_if(list, [](const Interval& i) { return i.empty(); });
  std::sort(list.begin(), list.end());
  std::size_t out = 0;
  for (const Interval& i : list) {
    if (out > 0 && list[out - 1].end >= i.begin)
      list[out - 1].end = std::max(list[out - 1].end, i.end);
    else
      list[out++] = i;
  }
  list.resize(out);
}

inline std::uint64_t total_size(const std::vector<Interval>& list) {
  std::uint64_t n = 0;
  for (const Interval& i : list) n += i.size();
  return n;
}

// Do two normalised lists share a position?
inline bool overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].overlaps(b[j])) return true;
    if (a[i].end < b[j].end)
      ++i;
    else
      ++j;
  }
  return false;
}

}  // namespace pando
