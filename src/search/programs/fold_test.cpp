// Estimates from a few layers and microbatches, against those of whole programs.
#include "search/programs/fold.h"

#include "base/process/stop.h"
#include "ir/checks/verify.h"
#include "models/gpt.h"
#include "models/mlp.h"
#include "search/strategy_text.h"

#include <gmock/gmock.h>

namespace pando::search {
namespace {

transform::Program gpt(std::int64_t layers, models::Optimizer::Kind kind = models::Optimizer::adam) {
  models::Gpt g{.layers = layers, .heads = 4, .width = 64, .vocabulary = 64, .sequence = 16, .batch = 64};
  g.optimizer.kind = kind;
  return models::build_gpt(g);
}

TEST(Fold, FindsEqualLayers) {
  const transform::Program p = gpt(6);
  FoldedProgram folded(p);
  // The embedding before them, the head behind; the first block hands its gradient to the embedding.
  EXPECT_LE(folded.first(), 2u);
  EXPECT_EQ(folded.end(), 7u);
  const std::uint32_t dropped = folded.end() - folded.first() - 2;
  const transform::Program& small = folded.without(dropped);
  ir::check(small.module);
  const transform::Program other = gpt(6 - dropped);
  const auto main_of = [](const transform::Program& program) { return program.module.graph(program.module.main_graph()); };
  // Scalars that every stage makes for itself stay.
  EXPECT_NEAR(static_cast<double>(main_of(small).ops.size()) / static_cast<double>(main_of(other).ops.size()), 1, 0.01);
  EXPECT_EQ(main_of(small).inputs.size(), main_of(other).inputs.size());
}

TEST(Fold, FindsNone) {
  const transform::Program p = gpt(2);
  FoldedProgram folded(p);
  EXPECT_EQ(folded.first(), folded.end());
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  EXPECT_FALSE(folded.estimate(parse_strategy("data=2", Spelling::whole), h100, simulate::ClusterCostModel(h100)));
}

// Every other block has experts: no two layers in a row are equal, but every layer is equal to the one before the last.
TEST(Fold, FindsPeriods) {
  models::Gpt g{.layers = 13, .heads = 4, .width = 32, .vocabulary = 64, .sequence = 8, .batch = 32, .experts = 2};
  const transform::Program p = models::build_gpt(g);
  FoldedProgram folded(p);
  EXPECT_EQ(folded.period(), 2u);
  EXPECT_GE(folded.end() - folded.first(), 10u);
  ir::check(folded.without(4).module);
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  const simulate::ClusterCostModel costs(h100);
  transform::Strategy base;
  base.first_device = 0;
  for (const char* words : {"data=4", "data=2 expert=2 microbatches=4", "tensor=2 zero=1 data=2", "pipeline=2 microbatches=8"}) {
    const transform::Strategy s = parse_strategy(words, Spelling::whole, base);
    const std::optional<ProgramEstimate> e = folded.estimate(s, h100, costs);
    ASSERT_TRUE(e) << words;
    const ProgramEstimate whole = estimate_program(p, s, h100, &costs);
    EXPECT_NEAR(e->seconds / whole.seconds, 1, 0.01) << words;
    EXPECT_NEAR(static_cast<double>(e->peak) / static_cast<double>(whole.peak), 1, 0.03) << words;
  }
}

// Bounds of few layers are bounds of all, and nearly as good.
TEST(Fold, Bounds) {
  const transform::Program p = gpt(12);
  FoldedProgram folded(p);
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  const simulate::ClusterCostModel costs(h100);
  for (const char* words : {"data=4", "tensor=4 microbatches=8", "pipeline=2 microbatches=16",
                            "pipeline=2 tensor=2 microbatches=8 recompute=full", "pipeline=2 microbatches=4 layers=9/5"}) {
    const transform::Strategy s = parse_strategy(words, Spelling::whole);
    ASSERT_TRUE(folded.folds(s)) << words;
    const double whole = least_program_seconds(p, s, costs), few = folded.least_seconds(s, costs).value();
    EXPECT_LE(few, whole) << words;
    EXPECT_GT(few, 0.97 * whole) << words;
  }
  EXPECT_FALSE(folded.least_seconds(parse_strategy("pipeline=8 microbatches=8", Spelling::whole), costs));
}

class FoldStrategies : public testing::TestWithParam<const char*> {};

TEST_P(FoldStrategies, AsWhole) {
  const transform::Program p = gpt(8);
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  const simulate::ClusterCostModel costs(h100);
  FoldedProgram folded(p);
  transform::Strategy base;
  base.first_device = 0;
  const transform::Strategy s = parse_strategy(GetParam(), Spelling::whole, base);
  const std::optional<ProgramEstimate> e = folded.estimate(s, h100, costs);
  ASSERT_TRUE(e);
  const ProgramEstimate whole = estimate_program(p, s, h100, &costs);
  EXPECT_NEAR(e->seconds / whole.seconds, 1, 0.01);
  EXPECT_NEAR(e->computing / whole.computing, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(e->peak) / static_cast<double>(whole.peak), 1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(All, FoldStrategies,
                         testing::Values("data=4", "data=4 zero=3", "tensor=4 microbatches=8", "tensor=2 sequence-parallel",
                                         "pipeline=2 microbatches=16", "pipeline=2 tensor=2 microbatches=8 recompute=full",
                                         "pipeline=2 data=2 microbatches=8 zero=2", "pipeline=2 microbatches=16 schedule=GPipe"));

// What is stopped keeps what it has found, and says what it has not looked at.
TEST(Fold, StoppedSearch) {
  const transform::Program p = gpt(4);
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  std::atomic<bool> stop = false;
  const StopScope scope(&stop);
  SearchOptions options{.top = 1, .keeps_when_stopped = true};
  options.progress = [&](const Certificate& c) { stop = c.evaluated > 0; };
  const ProgramResult r = search_program(p, h100, {.devices = 4}, options);
  ASSERT_EQ(r.best.size(), 1u);
  EXPECT_TRUE(r.certificate.stopped);
  EXPECT_GT(r.certificate.not_seen(), 0);
  EXPECT_LE(r.certificate.bound, r.certificate.best);
  EXPECT_THAT(to_table(r), testing::HasSubstr("not looked at"));
  stop = true;
  options.keeps_when_stopped = false;
  EXPECT_THROW(search_program(p, h100, {.devices = 4}, options), Stopped);
}

}  // namespace
}  // namespace pando::search
