#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "poplibs/popops/sort/sort_rows.h"

namespace popops::internal {
namespace {

// A network sorts everything if it sorts all sequences of zeros and ones.
TEST(MergeExchange, SortsZerosAndOnes) {
  EXPECT_TRUE(merge_exchange(0).empty());
  EXPECT_TRUE(merge_exchange(1).empty());
  for (unsigned n = 2; n <= 13; ++n) {
    const auto stages = merge_exchange(n);
    for (const auto& stage : stages) {
      std::vector<bool> used(n, false);
      for (const auto& [i, j] : stage) {
        ASSERT_LT(i, j);
        ASSERT_LT(j, n);
        ASSERT_FALSE(used[i] || used[j]) << n;  // of one compute set
        used[i] = used[j] = true;
      }
    }
    for (unsigned bits = 0; bits < 1u << n; ++bits) {
      unsigned x = bits;
      for (const auto& stage : stages)
        for (const auto& [i, j] : stage)
          if ((x >> i & 1) > (x >> j & 1)) x ^= 1u << i | 1u << j;
      for (unsigned i = 1; i < n; ++i) ASSERT_LE(x >> (i - 1) & 1, x >> i & 1) << n << ' ' << bits;
    }
  }
}

TEST(SortLayout, BlocksCoverRowsAndTiles) {
  const poplar::Target target = poplar::Target::createIPUTarget(1, 1472, "ipu2");
  for (const std::size_t rows : {1, 7, 100, 1000, 1472, 5000})
    for (const std::size_t length : {1, 33, 1000, 100003}) {
      const SortLayout l = sort_layout(target, rows, length, 1);
      EXPECT_GE(l.parts * l.block, length);
      EXPECT_LT((l.parts - 1) * l.block, length);
      std::vector<std::size_t> elements(l.tiles, 0);
      std::size_t total = 0;
      for (const SortUnit& u : sort_units(target, l)) {
        ASSERT_LT(u.tile, l.tiles);
        const std::size_t n = (u.end_row - u.row) * (l.begin(u.part + 1) - l.begin(u.part));
        elements[u.tile] += n;
        total += n;
      }
      EXPECT_EQ(total, rows * length);
      const auto used = static_cast<std::size_t>(std::count_if(elements.begin(), elements.end(), [](std::size_t n) { return n != 0; }));
      if (rows * length >= 100000) EXPECT_GE(used * 10, l.tiles * 9u) << rows << ' ' << length;
    }
}

}  // namespace
}  // namespace popops::internal
