// Bytes before launch, beside Megatron-LM's theoretical report and beside what was measured.
#include "search/memory/memory_report.h"

#include "search/search.h"
#include "search/shapes.h"
#include "search/stack.h"
#include "simulate/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

namespace pando::search {
namespace {

// The public formula of Megatron-LM's theoretical report (tools/report_theoretical_memory.py), written from its description: bytes of the
// first rank, with sequence parallelism, selective recomputation and 1F1B.
struct Theoretical {
  double states = 0, activations = 0;
};
Theoretical theoretical(const StrategyFacts& f, const Strategy& s) {
  const Transformer& m = f.model;
  const auto h = static_cast<double>(m.hidden), l = static_cast<double>(m.layers), ffn = static_cast<double>(m.ffn),
             t = static_cast<double>(s.tensor), p = static_cast<double>(s.pipeline), seq = static_cast<double>(m.seq),
             b = static_cast<double>(s.microbatch), v = static_cast<double>(m.vocab), d = static_cast<double>(s.data);
  const double grouped = static_cast<double>(m.keys()) / static_cast<double>(m.heads), gate = m.gated ? 1.5 : 1;
  const double in_layers = 2 * l * h * h * (1 + ffn / h * gate + grouped + 2 / h + 1 / (l * h));
  const double on_first = (in_layers / p + v * h * (p == 1 && !m.tied ? 2 : 1)) / t;
  Theoretical all;
  all.states = on_first * (s.zero == 0 ? 18 : 6 + 12 / d);
  // Of one layer; of as many microbatches as the first rank holds; the ids of tokens, dropout behind the embedding, the head.
  double bytes = seq * b * h * (18 + 4 * ffn / h) * l;
  bytes += 8 * seq * b * p + seq * b * h * p;
  if (s.stages_per_rank > 1) bytes *= 1 + (p - 1) / (p * static_cast<double>(s.stages_per_rank));
  if (s.stages_per_rank == 1 && p > 1) bytes *= std::min(1.0, static_cast<double>(f.microbatches(s)) / p);
  if (p == 1) bytes += seq * b * h * 4 * (1 + v / h);
  all.activations = bytes / t;
  return all;
}

TEST(Memory, IsMegatronsTheoreticalReport) {
  const simulate::Cluster& selene = simulate::cluster_named("selene");
  for (const auto& [model, text] : {std::pair{"gpt3-175b", "t=8 p=8 d=16 b=1"},
                                    {"gpt3-175b", "t=8 p=16 d=8 b=1 v=3 zero=1"},
                                    {"megatron-22b", "t=8 p=1 d=8 b=4 zero=1"},
                                    {"gpt3-13b", "t=4 p=4 d=4 b=2"},
                                    {"turing-530b", "t=8 p=35 d=4 b=1 zero=1"},
                                    {"megatron-1t", "t=8 p=64 d=2 b=1"}}) {
    Transformer m = transformer_named(model);
    m.learned_positions = 0;  // the report leaves them out
    const Strategy s = parse_strategy(fmt::format("{} comm=sequence-parallel regather recompute=selective", text), Spelling::brief);
    const StrategyFacts facts{m, selene, 512};
    ASSERT_FALSE(first_violation(facts, s)) << text;
    const RankMemory first = memory_of_ranks(facts, s).front();
    const Theoretical formula = theoretical(facts, s);
    const auto of = [&](simulate::MemoryKind k) { return first.bytes[static_cast<std::size_t>(k)]; };
    EXPECT_NEAR(
        (of(simulate::MemoryKind::weights) + of(simulate::MemoryKind::gradients) + of(simulate::MemoryKind::optimizer)) / formula.states, 1,
        0.01)
        << model << " " << text;
    EXPECT_NEAR(of(simulate::MemoryKind::activations) / formula.activations, 1, 0.04) << model << " " << text;
  }
}

TEST(Memory, RanksAreTheEstimates) {
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  for (const auto& [model, text] : {std::pair{"llama3-8b", "t=2 p=4 d=2 zero=1"},
                                    {"llama3-405b", "t=8 p=16 d=2"},
                                    {"deepseek-v3", "p=16 d=8 e=8"},
                                    {"llama3-70b", "t=4 p=6 d=2 recompute=full recompute-first=3"}}) {
    const Transformer m = transformer_named(model);
    const Strategy s = parse_strategy(text, Spelling::brief);
    const StrategyFacts facts = facts_of(m, h100, 64);
    ASSERT_FALSE(first_violation(facts, s)) << text;
    const std::vector<RankMemory> ranks = memory_of_ranks(facts, s);
    ASSERT_EQ(static_cast<std::int64_t>(ranks.size()), s.pipeline);
    const std::vector<std::int64_t> layers = layers_of_ranks(facts, s);
    const Estimate e = estimate(facts, s);
    double most = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      EXPECT_EQ(ranks[i].rank, static_cast<std::int64_t>(i)) << text;
      EXPECT_EQ(ranks[i].layers, layers[i]) << text;
      most = std::max(most, ranks[i].sum());
    }
    EXPECT_DOUBLE_EQ(most, e.memory_bytes()) << text;
    EXPECT_DOUBLE_EQ(ranks[static_cast<std::size_t>(e.fullest_stage)].sum(), most) << text;
    const std::string csv = memory_csv(ranks);
    EXPECT_EQ(simulate::Csv::read(csv, "memory.csv").rows(), ranks.size());
  }
}

// A change is one that a user can take as it stands.
TEST(Memory, ChangesFit) {
  const simulate::Cluster cluster = with_stack(simulate::cluster_named("h100"), stack_named("megatron"));
  const auto limit = static_cast<double>(cluster.memory_bytes);
  for (const auto& [model, text] : {std::pair{"llama3-8b", "d=8"}, {"llama3-70b", "t=8 p=2 d=4"}, {"gpt3-13b", "t=1 d=16 b=2 zero=1"}}) {
    const Transformer m = transformer_named(model);
    const Strategy s = parse_strategy(text, Spelling::brief);
    const StrategyFacts facts = facts_of(m, cluster, 64);
    ASSERT_FALSE(estimate(facts, s).fits(limit, cluster)) << text;
    const std::vector<FittingChange> changes = changes_that_fit(facts, s, limit);
    ASSERT_FALSE(changes.empty()) << text;
    double before = 0;
    for (const FittingChange& c : changes) {
      EXPECT_FALSE(first_violation(facts, c.strategy)) << c.words;
      EXPECT_TRUE(estimate(facts, c.strategy).fits(limit, cluster)) << c.words;
      EXPECT_EQ(c.strategy.devices(), s.devices()) << c.words;
      EXPECT_GE(c.estimate.seconds, before);
      EXPECT_FALSE(c.words.empty());
      before = c.estimate.seconds;
    }
  }
  const Transformer huge = transformer_named("megatron-1t");
  EXPECT_TRUE(changes_that_fit({huge, cluster, 8}, parse_strategy("d=8", Spelling::brief), limit).empty());
}

}  // namespace
}  // namespace pando::search
