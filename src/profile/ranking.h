#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pando::profile {

// 0..n-1 by falling `key(i)`; equal ones in their own order.
template <class Key>
std::vector<std::size_t> ranking(std::size_t n, Key key) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    auto ka = key(a), kb = key(b);
    return ka != kb ? ka > kb : a < b;
  });
  return order;
}

// Indices of at most `most` elements: those with the greatest `key(element)`, the greatest first, equal ones in their own order. Looks at
// each element once, in order.
template <class Range, class Key>
std::vector<std::size_t> greatest(const Range& all, std::size_t most, Key key) {
  using Entry = std::pair<std::uint64_t, std::size_t>;
  const auto is_before = [](const Entry& a, const Entry& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; };
  std::vector<Entry> heap;  // its front is the last of those that are kept
  std::size_t i = 0;
  for (const auto& element : all) {
    const Entry entry{key(element), i++};
    if (heap.size() < most) {
      heap.push_back(entry);
      std::push_heap(heap.begin(), heap.end(), is_before);
    } else if (most > 0 && is_before(entry, heap.front())) {
      std::pop_heap(heap.begin(), heap.end(), is_before);
      heap.back() = entry;
      std::push_heap(heap.begin(), heap.end(), is_before);
    }
  }
  std::sort(heap.begin(), heap.end(), is_before);
  std::vector<std::size_t> out;
  for (const Entry& entry : heap) out.push_back(entry.second);
  return out;
}

}  // namespace pando::profile
