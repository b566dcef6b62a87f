#include "popops/PerformanceEstimation.hpp"

#include <gtest/gtest.h>

namespace popops::internal {
namespace {

using namespace poplar;

TEST(PerformanceEstimation, CountsLoadsAndStoresOfTheDataPath) {
  const Target ipu = Target::createIPUTarget(1, "ipu2");
  const FillTargetParameters fill(ipu);
  EXPECT_EQ(getFill1DCycleEstimate(fill, FLOAT, 800), 20u + 400);
  EXPECT_EQ(getFill1DCycleEstimate(fill, HALF, 800), 20u + 200);
  EXPECT_EQ(getFill2DCycleEstimate(fill, FLOAT, {500, 300}), 20u + 2 * 10 + 400);
  const CastTargetParameters cast(ipu, HALF, FLOAT);
  EXPECT_EQ(getCast1DSingleWorkerCycleEstimate(cast, HALF, FLOAT, 600), 20u + 450);
  EXPECT_EQ(getCast1DCycleEstimate(cast, HALF, FLOAT, 600), 20u + 75);
  std::vector<unsigned> runs = {500, 100};
  EXPECT_EQ(getCast2DCycleEstimate(cast, HALF, FLOAT, runs), 20u + 2 * 10 + 450);
}

}  // namespace
}  // namespace popops::internal
