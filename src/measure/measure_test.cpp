#include "measure/grid.h"
#include "measure/run.h"

#include "simulate/costs/flatten.h"
#include "simulate/ipu_cluster.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace pando::measure {
namespace {

// A few of the grid: larger steps take longer by both clocks.
TEST(Measure, TheCycleModelAgreesOnOrder) {
  std::vector<Configuration> some;
  for (Configuration& c : ipu_configurations()) {
    const bool chosen =
        c.what == "mlp 2 x 64, batch 16, data=2" || c.what == "mlp 4 x 256, batch 64, data=4" || c.what == "mlp 8 x 128, batch 64, data=8";
    if (chosen) some.push_back(std::move(c));
  }
  ASSERT_EQ(some.size(), 3u);
  const Grid g = compare_on_ipus(some, *simulate::ipu_cluster_named("ipu2:256"), "ipu2", 256);
  for (const Pair& p : g.pairs) {
    EXPECT_GT(p.measured, 1e-6) << p.what;
    EXPECT_GT(p.predicted, 1e-6) << p.what;
  }
  EXPECT_EQ(g.rank_correlation(), 1) << to_text(g.pairs[0]) << to_text(g.pairs[1]) << to_text(g.pairs[2]);
  EXPECT_THAT(scatter_svg(g, "t"), testing::HasSubstr("rank correlation 1.000"));
}

TEST(Measure, RunsOnTheHost) {
  const Configuration c = host_configurations().front();
  EXPECT_GT(run_on_host(transform::parallelise(c.program, c.strategy).module, 0), 1e-7);
}

TEST(Measure, Correlation) {
  Grid g;
  for (double x : {1.0, 2.0, 3.0, 4.0}) g.pairs.push_back({"", 1, x, x * x, {}});
  EXPECT_DOUBLE_EQ(g.rank_correlation(), 1);
  EXPECT_GT(g.mean_error(), 0.4);
  std::swap(g.pairs[0].measured, g.pairs[3].measured);
  EXPECT_LT(g.rank_correlation(), 0);
}

// One that an IPU's memory does not hold ends none of the others.
TEST(Measure, WhatDoesNotFitIsLeftOut) {
  std::vector<Configuration> some;
  for (Configuration& c : ipu_configurations()) {
    const bool chosen = c.what == "mlp 2 x 64, batch 16, data=2" || c.what == "mlp 4 x 1024, batch 512, data=2" ||
                        c.what == "mlp 2 x 64, batch 16, tensor=2";
    if (chosen) some.push_back(std::move(c));
  }
  ASSERT_EQ(some.size(), 3u);
  std::vector<std::string> rows;
  const Grid g =
      compare_on_ipus(some, *simulate::ipu_cluster_named("ipu2:16"), "ipu2", 16, [&](const Pair& p) { rows.push_back(to_text(p)); });
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(g.pairs.size(), 2u);
  ASSERT_EQ(g.left_out.size(), 1u);
  EXPECT_EQ(g.left_out[0].what, "mlp 4 x 1024, batch 512, data=2");
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), [](const std::string& r) { return r.ends_with("not measured: out of memory"); }), 1);
  EXPECT_THAT(summary(g), testing::MatchesRegex("2 configurations: rank correlation .*; 1 left out: out of memory"));
  EXPECT_THAT(scatter_svg(g, "t"), testing::HasSubstr("</svg>"));
}

// Devices 1 and 2 are two, whatever numbers they have.
TEST(Measure, IpusAreThoseThatHoldSomething) {
  Configuration c = host_configurations()[1];
  ASSERT_EQ(c.devices(), 2);
  c.strategy.first_device = 1;
  const ir::Module m = transform::parallelise(c.program, c.strategy).module;
  const simulate::Program p = simulate::flatten(m, simulate::ClusterCostModel(*simulate::ipu_cluster_named("ipu2:64")));
  EXPECT_EQ(p.used_devices().size(), 2);
  EXPECT_EQ(p.devices(), 3);
}

TEST(Measure, MachinesByTiles) {
  const auto small = simulate::ipu_cluster_named("ipu2:16"), all = simulate::ipu_cluster_named("ipu2");
  ASSERT_TRUE(small && all);
  EXPECT_NEAR(all->half_operations / small->half_operations, 1472.0 / 16, 1e-9);
  EXPECT_NEAR(all->half_operations, 2.5e14, 5e12);
  for (const char* none : {"ipu2:", "ipu2:0", "ipu2:9999", "ipu2:x", "ipu9", "cpu", "selene"}) {
    EXPECT_FALSE(simulate::ipu_cluster_named(none)) << none;
  }
}

}  // namespace
}  // namespace pando::measure
