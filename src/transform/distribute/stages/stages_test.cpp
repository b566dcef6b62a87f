#include "transform/distribute/stages/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

namespace pando::transform {
namespace {

double squares(const std::vector<double>& cost, const std::vector<std::uint32_t>& sizes) {
  double sum = 0;
  std::size_t at = 0;
  for (const std::uint32_t n : sizes) {
    const double stage = std::accumulate(cost.begin() + at, cost.begin() + at + n, 0.0);
    sum += stage * stage, at += n;
  }
  return sum;
}

// Of all divisions of the layers into stages of one or more.
double least_squares(const std::vector<double>& cost, std::size_t stages) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::uint32_t> sizes;
  const std::function<void(std::size_t)> divide = [&](std::size_t left) {
    if (sizes.size() + 1 == stages) {
      sizes.push_back(static_cast<std::uint32_t>(left));
      least = std::min(least, squares(cost, sizes));
      sizes.pop_back();
      return;
    }
    for (std::size_t n = 1; n + (stages - sizes.size() - 1) <= left; ++n) {
      sizes.push_back(static_cast<std::uint32_t>(n));
      divide(left - n);
      sizes.pop_back();
    }
  };
  divide(cost.size());
  return least;
}

TEST(Stages, EqualLayersGoToEarlierStages) {
  EXPECT_THAT(even_groups({1, 1, 1, 1, 1}, 2), testing::ElementsAre(3, 2));
  EXPECT_THAT(even_groups({1, 1, 1, 1, 1, 1, 1}, 3), testing::ElementsAre(3, 2, 2));
  EXPECT_THAT(even_groups({2, 2, 2}, 3), testing::ElementsAre(1, 1, 1));
  EXPECT_THAT(even_groups({5}, 1), testing::ElementsAre(1));
}

TEST(Stages, NoDivisionIsMoreEven) {
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    std::vector<double> cost(1 + random() % 8);
    for (double& c : cost) c = static_cast<double>(random() % 10);
    const std::size_t stages = 1 + random() % cost.size();
    const std::vector<std::uint32_t> sizes = even_groups(cost, static_cast<std::int32_t>(stages));
    ASSERT_EQ(sizes.size(), stages);
    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0u), cost.size());
    for (const std::uint32_t n : sizes) EXPECT_GE(n, 1u);
    EXPECT_EQ(squares(cost, sizes), least_squares(cost, stages));
  }
}

}  // namespace
}  // namespace pando::transform
