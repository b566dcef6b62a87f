#include "gccs/Algorithm.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "gccs/StructHelper.hpp"

namespace gccs {
namespace {

TEST(GccsAlgorithm, DividesAndAligns) {
  EXPECT_EQ(ceildiv(7u, 2u), 4u);
  EXPECT_EQ(ceildiv(~0ull, 2u), 1ull << 63);
  EXPECT_EQ(ceildiv0(0u, 0u), 0u);
  EXPECT_EQ(ceildiv0(5u, 4u), 2u);
  EXPECT_EQ(floordiv(7u, 2u), 3u);
  EXPECT_EQ(alignNext(9u, 8u), 16u);
  EXPECT_EQ(alignNext(std::size_t{16}, 8u), std::size_t{16});
  EXPECT_EQ(alignPrev(15u, 8u), 8u);
  EXPECT_EQ(nthTriangular(4u), 10u);
  EXPECT_EQ(nthTriangular(7u), 28u);
}

TEST(GccsAlgorithm, Logarithms) {
  const std::vector<std::pair<unsigned long long, unsigned>> known = {{0, 0}, {1, 0},     {2, 1},     {3, 2},     {4, 2},
                                                                      {5, 3}, {1024, 10}, {1025, 11}, {~0ull, 64}};
  for (const auto& [n, log] : known) EXPECT_EQ(ceilLog2(n), log) << n;
}

TEST(GccsAlgorithm, BalancedPartitions) {
  EXPECT_EQ(balancedPartition(10u, 4u), std::pair(2u, 2u));
  EXPECT_EQ(balancedPartition(8u, 4u), std::pair(4u, 0u));
  EXPECT_EQ(balancedPartition(3u, 4u), std::pair(3u, 1u));
  EXPECT_EQ(balancedPartition(3u, 0u), std::pair(0u, 0u));
}

TEST(GccsArrayRef, IsPoplars) {
  const std::vector<float> v{1, 2};
  const auto ref = gccs::ArrayRef(v);
  static_assert(std::is_same_v<decltype(ref), const poplar::ArrayRef<float>>);
  EXPECT_EQ(ref.size(), 2u);
}

struct Point {
  int x;
  double y;
  int z;
};

TEST(GccsStructHelper, ComparesMemberByMember) {
  constexpr auto helper = makeStructHelper(&Point::y, &Point::x);
  const Point a{3, 1.0, 5}, b{4, 1.0, 0}, c{0, 2.0, 5};
  EXPECT_TRUE(helper.lt(a, b));
  EXPECT_FALSE(helper.lt(b, a));
  EXPECT_TRUE(helper.lt(b, c));
  EXPECT_FALSE(helper.lt(a, a));
  EXPECT_FALSE(helper.eq(a, b));
  EXPECT_TRUE(helper.eq(a, Point{3, 1.0, -1}));  // z is not among the members
}

}  // namespace
}  // namespace gccs
