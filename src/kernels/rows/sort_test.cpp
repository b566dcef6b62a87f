#include "kernels/rows/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

template <class T>
std::vector<T> numbers(unsigned n, T most) {
  std::vector<T> out;
  std::uint64_t z = n;
  for (unsigned i = 0; i < n; ++i) {
    z = z * 6364136223846793005u + 1442695040888963407u;
    out.push_back(most == 0 ? static_cast<T>(z ^ (z >> 29)) : static_cast<T>((z >> 33) % most));
  }
  return out;
}

template <class T>
void check_kernel(void (*sort)(T*, unsigned), void (*least)(const T*, unsigned, T, T*, unsigned)) {
  for (const unsigned n : {0u, 1u, 2u, 31u, 33u, 1000u, 70001u})
    for (const T most : {T{0}, T{1}, T{7}}) {
      const std::vector<T> in = numbers<T>(n, most);
      std::vector<T> expected = in, actual = in;
      std::sort(expected.begin(), expected.end());
      sort(actual.data(), n);
      EXPECT_EQ(actual, expected) << n;
      for (const unsigned k : {0u, 1u, 5u, n}) {
        if (k > n) continue;
        std::vector<T> some(k);
        least(in.data(), n, static_cast<T>(~T{0}), some.data(), k);
        EXPECT_EQ(some, std::vector<T>(expected.begin(), expected.begin() + k)) << n << ' ' << k;
        const T limit = n == 0 ? T{0} : expected[n / 3];
        std::vector<T> within(expected.begin(), expected.begin() + k);
        for (T& x : within) x = x <= limit ? x : static_cast<T>(~T{0});
        least(in.data(), n, limit, some.data(), k);
        EXPECT_EQ(some, within) << n << ' ' << k;
      }
    }
}

TEST(SortKernel, SortsAndSelects) {
  check_kernel<std::uint32_t>(pando_sort_u32, pando_least_u32);
  check_kernel<std::uint64_t>(pando_sort_u64, pando_least_u64);
}

}  // namespace
