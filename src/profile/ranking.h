#pragma once

#include <algorithm>
#include <cstddef>
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

}  // namespace pando::profile
