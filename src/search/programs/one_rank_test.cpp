// One device in place of all that have equal parts, against all of them.
#include "search/programs/one_rank.h"

#include "models/gpt.h"
#include "models/mlp.h"
#include "search/programs/program_search.h"
#include "search/strategy_text.h"

#include <gmock/gmock.h>

namespace pando::search {
namespace {

// The same prices, but every device is made.
class EveryDevice : public simulate::ClusterCostModel {
 public:
  using ClusterCostModel::ClusterCostModel;
  bool looks_at_the_network_alone() const override { return false; }
};

transform::Strategy strategy_of(const char* words) {
  transform::Strategy base;
  base.first_device = 0;
  return parse_strategy(words, Spelling::whole, base);
}

void expect_equal(const transform::Program& program, const char* words, const simulate::Cluster& cluster) {
  const EveryDevice costs(cluster);
  const transform::Strategy s = strategy_of(words);
  const ProgramEstimate one = estimate_program(program, s, cluster), all = estimate_program(program, s, cluster, &costs);
  EXPECT_EQ(one.seconds, all.seconds) << words;
  EXPECT_EQ(one.computing, all.computing) << words;
  EXPECT_EQ(one.transferring, all.transferring) << words;
  EXPECT_EQ(one.busiest, all.busiest) << words;
  EXPECT_EQ(one.fullest, all.fullest) << words;
  EXPECT_EQ(one.peak, all.peak) << words;
  EXPECT_EQ(one.at_peak, all.at_peak) << words;
  EXPECT_EQ(one.whole.size(), all.whole.size()) << words;
}

class OneRank : public testing::TestWithParam<const char*> {};

TEST_P(OneRank, AsAll) {
  models::Gpt g{.layers = 4, .heads = 4, .width = 64, .vocabulary = 64, .sequence = 16, .batch = 64};
  g.optimizer.kind = models::Optimizer::adam;
  const transform::Program p = models::build_gpt(g);
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  EXPECT_TRUE(ranks_do_alike(strategy_of(GetParam()), h100));
  for (const char* machine : {"h100", "selene", "bow-pod"}) expect_equal(p, GetParam(), simulate::cluster_named(machine));
}

INSTANTIATE_TEST_SUITE_P(All, OneRank,
                         testing::Values("data=16", "data=16 zero=1", "data=8 zero=2 microbatches=4", "data=16 zero=3 microbatches=2",
                                         "tensor=4", "data=4 tensor=4 sequence-parallel", "data=4 tensor=4 order=data/tensor",
                                         "data=4 tensor=4 order=tensor/data", "data=2 context=2 tensor=2", "pipeline=4 microbatches=8",
                                         "pipeline=2 data=2 tensor=2 microbatches=4 zero=2",
                                         "pipeline=2 data=4 tensor=2 microbatches=4 order=pipeline/data",
                                         "pipeline=2 data=2 stages-per-rank=2 microbatches=4 schedule=Interleaved1F1B",
                                         "pipeline=2 data=2 microbatches=4 recompute=full",
                                         "pipeline=2 tensor=2 microbatches=4 schedule=ZB-H1",
                                         "pipeline=2 data=2 microbatches=4 schedule=GPipe zero=3 recompute=selective"));

TEST(OneRankOfOthers, AsAll) {
  const simulate::Cluster &h100 = simulate::cluster_named("h100"), &pod = simulate::cluster_named("bow-pod");
  const transform::Program experts =
      models::build_gpt({.layers = 2, .heads = 4, .width = 32, .vocabulary = 64, .sequence = 8, .batch = 32, .experts = 4});
  for (const char* words : {"data=2 expert=4", "data=2 expert=2 tensor=2 microbatches=2", "expert=2 pipeline=2 microbatches=4"})
    expect_equal(experts, words, h100);
  const transform::Program mlp = models::build_mlp({.layers = 4, .width = 64, .batch = 64});
  for (const char* words :
       {"data=8 offload=weights", "data=2 tensor=2 microbatches=4 offload=activations", "data=4 zero=1 offload=optimizer"})
    expect_equal(mlp, words, pod);
}

TEST(OneRankOfOthers, LieOtherwise) {
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  // Groups of three in nodes of eight: the third one is in two nodes.
  EXPECT_FALSE(ranks_do_alike(strategy_of("data=4 tensor=3"), h100));
  EXPECT_TRUE(ranks_do_alike(strategy_of("data=2 tensor=3"), h100));
  transform::Strategy in_the_middle = strategy_of("data=2 tensor=4");
  in_the_middle.first_device = 6;
  EXPECT_FALSE(ranks_do_alike(in_the_middle, h100));
  EXPECT_EQ(h100.levels.at(0).devices, 8);
  // Nodes that share a link out: groups beside each other wait for it.
  simulate::Cluster shared = h100;
  shared.levels.at(1).shared_bytes_per_second = 5e10;
  EXPECT_FALSE(ranks_do_alike(strategy_of("data=16"), shared));
  EXPECT_TRUE(ranks_do_alike(strategy_of("data=8"), shared));
}

// Where groups wait for each other, or lie otherwise, every device is made.
TEST(OneRankOfOthers, IsNotTaken) {
  const transform::Program mlp = models::build_mlp({.layers = 4, .width = 96, .batch = 96});
  simulate::Cluster shared = simulate::cluster_named("h100");
  shared.levels.at(1).shared_bytes_per_second = 5e10;
  for (const char* words : {"data=8 tensor=2", "data=4 tensor=3", "data=2 tensor=8 order=tensor/data"}) expect_equal(mlp, words, shared);
}

}  // namespace
}  // namespace pando::search
