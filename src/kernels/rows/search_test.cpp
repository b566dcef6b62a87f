#include "kernels/rows/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

template <class T>
std::vector<T> numbers(unsigned n, T most) {
  std::vector<T> out;
  std::uint64_t z = n + 1;
  for (unsigned i = 0; i < n; ++i) {
    z = z * 6364136223846793005u + 1442695040888963407u;
    out.push_back(most == 0 ? static_cast<T>(z ^ (z >> 29)) : static_cast<T>((z >> 33) % most));
  }
  return out;
}

constexpr unsigned kSizes[] = {0, 1, 7, 15, 16, 17, 64, 257, 1000, 2520};

TEST(SearchKernel, FindsPositionsInARange) {
  for (const unsigned n : kSizes)
    for (const auto& [first, count] :
         {std::pair(0u, 100u), std::pair(90u, 7u), std::pair(3u, 1u), std::pair(50u, 0u), std::pair(99u, 0xffffffffu)}) {
      const std::vector<std::uint32_t> in = numbers<std::uint32_t>(n, 100);
      std::vector<std::uint32_t> expected;
      for (unsigned i = 0; i < n; ++i)
        if (in[i] - first < count) expected.push_back(i);
      for (const unsigned most : {1u, 5u, 16u, 100u, 130u, 500u, 2000u}) {
        std::vector<std::uint32_t> all, out(most + kPandoSearchSlack);
        for (unsigned begin = 0, seen = 0; begin < n; begin += seen) {
          const unsigned found = pando_find_in_range_u32(in.data() + begin, n - begin, first, count, out.data(), most, &seen);
          ASSERT_TRUE(found <= most && seen > 0 && seen <= n - begin) << n << ' ' << first << ' ' << most;
          for (unsigned h = 0; h < found; ++h) all.push_back(begin + out[h]);
        }
        EXPECT_EQ(all, expected) << n << ' ' << first << ' ' << most;
      }
    }
}

template <class T>
void check_values(unsigned (*find)(const T*, unsigned, T, T*), T (*least)(const T*, unsigned)) {
  for (const unsigned n : kSizes)
    for (const T most : {T{0}, T{9}}) {
      const std::vector<T> in = numbers<T>(n, most);
      if (n > 0) EXPECT_EQ(least(in.data(), n), *std::min_element(in.begin(), in.end())) << n;
      for (const T limit : {T{0}, T{4}, static_cast<T>(~T{0} / 3), static_cast<T>(~T{0})}) {
        std::vector<T> expected, out(n + kPandoSearchSlack);
        std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [&](T x) { return x <= limit; });
        out.resize(find(in.data(), n, limit, out.data()));
        EXPECT_EQ(out, expected) << n << ' ' << limit;
      }
    }
}

TEST(SearchKernel, FindsValuesAndTheLeast) {
  check_values<std::uint32_t>(pando_find_at_most_u32, pando_minimum_u32);
  check_values<std::uint64_t>(pando_find_at_most_u64, pando_minimum_u64);
}

}  // namespace
