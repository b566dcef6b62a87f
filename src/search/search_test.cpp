#include "search/search.h"
#include "base/testing/places.h"
#include "search/shapes.h"
#include "search/stack.h"
#include "search/timeline.h"
#include "simulate/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace pando::search {
namespace {

TEST(Validation, StacksAddToMachines) {
  for (const Stack& s : stacks()) {
    const simulate::Cluster h100 = with_stack(simulate::cluster_named("h100"), s);
    EXPECT_LT(h100.memory_bytes, simulate::cluster_named("h100").memory_bytes) << s.name;
    EXPECT_THAT(h100.source, testing::HasSubstr("stack " + s.name)) << s.name;
    EXPECT_EQ(with_stack(simulate::cluster_named("bow-pod"), s).memory_bytes, simulate::cluster_named("bow-pod").memory_bytes) << s.name;
  }
  EXPECT_EQ(with_stack(simulate::cluster_named("b200"), stack_named("megatron")).launch, 6.5e-5);
  const simulate::Cluster a100 = simulate::cluster_named("a100-80");
  EXPECT_EQ(with_stack(a100, stack_named("megatron")).microbatch_seconds, 0);
  EXPECT_EQ(with_stack(a100, stack_named("megatron-2023")).microbatch_seconds, 2.4e-3);
  EXPECT_EQ(with_stack(simulate::cluster_named("h100"), stack_named("megatron-2023")).microbatch_seconds, 0);
  EXPECT_THROW(stack_named("hand-made"), poplar::poplar_error);
}

// What a stack says of the loss, of attention and of ops of several kernels makes exactly these ops slower.
TEST(Validation, StacksSayWhatSoftwareDoes) {
  const simulate::Cluster plain = simulate::cluster_named("a100-80");
  const Transformer llama = transformer_named("llama3-8b", 2048);
  const Strategy s;
  const auto of = [&](const LayerCosts& l, std::string_view name, bool backward) {
    const auto& ops = backward ? l.input_gradient : l.forward;
    return std::find_if(ops.begin(), ops.end(), [&](const LayerOp& o) { return o.name == name; })->seconds;
  };
  const LayerCosts before = layer_costs(llama, plain, s);
  Stack mine;
  mine.name = "mine";
  mine.loss_bytes = 52, mine.attention_forward = 0.6, mine.attention_backward = 0.475, mine.unfused = {{"rms_norm", 9, 5}};
  const simulate::Cluster with = with_stack(plain, mine);
  const LayerCosts after = layer_costs(llama, with, s);
  EXPECT_DOUBLE_EQ(of(after, "attention", false) - plain.launch, 2 * (of(before, "attention", false) - plain.launch));
  EXPECT_DOUBLE_EQ(of(after, "attention", true) - plain.launch, 2 * (of(before, "attention", true) - plain.launch));
  EXPECT_GT(of(after, "norm", false), 5 * of(before, "norm", false));
  EXPECT_GT(of(after, "norm", true), 3 * of(before, "norm", true));
  for (const char* same : {"activation", "positions", "up", "residual"}) {
    EXPECT_EQ(of(after, same, false), of(before, same, false)) << same;
    EXPECT_EQ(of(after, same, true), of(before, same, true)) << same;
  }
  EXPECT_NEAR(head_seconds(llama, with, s) - head_seconds(llama, plain, s), 36.0 * 2048 * 128256 / (0.9 * plain.memory_bytes_per_second),
              1e-6);
}

// Casts of 8-bit floats move what the stack says; nothing else of the layer changes.
TEST(Validation, StacksSayWhatCastsMove) {
  const simulate::Cluster plain = simulate::cluster_named("h100");
  const Transformer llama = transformer_named("llama3-8b", 8192);
  Strategy s;
  s.precision = Precision::fp8;
  Stack mine;
  mine.name = "mine", mine.unfused = {{"casts", 2, 3}, {"casts_again", 0, 6}};
  const simulate::Cluster with = with_stack(plain, mine);
  const LayerCosts before = layer_costs(llama, plain, s), after = layer_costs(llama, with, s);
  const auto bytes = [&](const std::vector<LayerOp>& ops, std::string_view name) {
    double seconds = 0;
    for (const LayerOp& o : ops) seconds += o.name == name ? o.seconds - plain.launch : 0;
    return seconds * plain.memory_bytes_per_second;
  };
  const double h = 4096, kv = 1024, ffn = 14336, tokens = 8192;
  const double weights = h * (h + 2 * kv) + h * h + 3 * h * ffn, activations = tokens * (3 * h + ffn),
               gradients = tokens * (h + 2 * kv + h + 2 * ffn + h);
  // The curve of the memory gives large operands all but a few percent of its bandwidth.
  EXPECT_NEAR(bytes(before.forward, "casts to 8 bits"), 4 * (weights + activations), 0.1 * 4 * (weights + activations));
  EXPECT_NEAR(bytes(after.forward, "casts to 8 bits"), 8 * (weights + activations), 0.1 * 8 * (weights + activations));
  EXPECT_NEAR(bytes(after.input_gradient, "casts to 8 bits"), 12 * gradients, 0.1 * 12 * gradients);
  EXPECT_EQ(bytes(before.weight_gradient, "casts to 8 bits again"), 0);
  EXPECT_NEAR(bytes(after.weight_gradient, "casts to 8 bits again"), 6 * (weights + activations), 0.1 * 6 * (weights + activations));
  s.precision = Precision::bf16;
  EXPECT_EQ(layer_costs(llama, with, s).seconds(), layer_costs(llama, plain, s).seconds());
}

// A layer that is computed again ends before its last product, if the stack stops early and nothing behind the product needs its result.
TEST(Validation, StacksStopEarly) {
  const simulate::Cluster plain = simulate::cluster_named("h100"), early = [&] {
    Stack mine;
    mine.name = "mine", mine.stops_early = true;
    return with_stack(plain, mine);
  }();
  Transformer llama = transformer_named("llama3-8b", 2048);
  Strategy s;
  s.recompute = Recompute::full, s.tensor = 2, s.sequence_parallel = true;
  const auto names = [&](const simulate::Cluster& c) {
    std::vector<std::string> all;
    for (const LayerOp& o : layer_costs(llama, c, s).again) all.emplace_back(o.name);
    return all;
  };
  const std::vector<std::string> whole = names(plain);
  ASSERT_THAT(std::vector<std::string>(whole.end() - 3, whole.end()), testing::ElementsAre("down", "reduce-scatter", "residual 2"));
  EXPECT_EQ(names(early), std::vector<std::string>(whole.begin(), whole.end() - 3));
  llama.norms = 4;
  EXPECT_EQ(names(early), names(plain));
  s.recompute = Recompute::none;
  EXPECT_TRUE(names(early).empty());
}

// Heads of 108 numbers begin between multiples of 16 bytes, those of 144 at them: on a machine that says what that costs.
TEST(Layer, UnalignedHeads) {
  const auto seconds = [](const char* machine, std::int64_t heads) {
    Transformer m;
    m.layers = 78, m.hidden = 13824, m.heads = heads, m.ffn = 4 * m.hidden, m.seq = 2048;
    Strategy s;
    s.tensor = 4, s.microbatch = 4;
    return layer_costs(m, simulate::cluster_named(machine), s).seconds();
  };
  EXPECT_GT(seconds("jean-zay", 128), 1.3 * seconds("jean-zay", 96));
  EXPECT_LT(seconds("h100", 128), 1.1 * seconds("h100", 96));
}

// What kernels of their own do with weights that are split, and with sums of gradients; and transfers between nodes, which go through the
// links inside of them.
TEST(Estimate, CopiesAndSums) {
  const Transformer m = transformer_named("llama3-8b");
  simulate::Cluster c = simulate::cluster_named("selene");
  const auto of = [&](const char* text) {
    LayerMemo memo;
    return estimate({m, c, 256, &memo}, parse_strategy(text, Spelling::brief));
  };
  const double split = of("d=64 zero=3").seconds, whole = of("d=64 zero=1").seconds;
  c.shard_bytes = 14;
  const double rate = c.memory_bytes_per_second * 0.9;
  EXPECT_NEAR(of("d=64 zero=3").seconds - split, 4 * 14 * m.parameters() / rate, 1e-6);
  EXPECT_EQ(of("d=64 zero=1").seconds, whole);
  c.shard_bytes = 0, c.sum_bytes = 6;
  EXPECT_NEAR(of("d=64 zero=1").seconds - whole, 3 * 6 * m.parameters() / rate, 1e-6);
  EXPECT_NEAR(of("d=64 zero=3").seconds - split, 3 * 6 * m.parameters() / 64 / rate, 1e-4);
  EXPECT_NEAR(of("d=64 zero=1").copies, 3 * 6 * m.parameters() / rate, 1e-6);
  c.sum_bytes = 0;
  const double gathered = of("d=64 zero=3").data_transfers;
  c.gather_bytes = 4;
  EXPECT_GT(of("d=64 zero=3").data_transfers, 1.01 * gathered);
  EXPECT_EQ(of("d=64 zero=1").seconds, whole);
  c.gather_bytes = 2;
  const double hidden = of("d=64 zero=3 data-overlap").data_transfers;
  c.levels[0].slowdown = 0.5;
  EXPECT_GT(of("d=64 zero=3 data-overlap").data_transfers, 1.5 * hidden);
}

// As Megatron-LM's authors count it.
TEST(Validation, ShareOfThePeak) {
  const auto csv = simulate::Csv::read_file(source_path("tests/data/distribution/selene_steps.csv"));
  int rows = 0;
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    if (csv.empty(i, "MFU_pct_measured")) continue;
    Transformer m;
    m.layers = csv.integer(i, "layers"), m.heads = csv.integer(i, "heads"), m.hidden = csv.integer(i, "hidden"), m.ffn = 4 * m.hidden;
    m.seq = csv.integer(i, "seq"), m.vocab = 51200;
    const double tokens = csv.number(i, "global_batch") * static_cast<double>(m.seq);
    const double peak = csv.number(i, "iteration_s_measured") * csv.number(i, "gpus") * 3.12e14;
    EXPECT_NEAR(100 * tokens * m.operations_per_token() / peak, csv.number(i, "MFU_pct_measured"), 0.6) << i;
    ++rows;
  }
  EXPECT_GE(rows, 4);
}

TEST(Strategy, TextsAndRules) {
  const auto& selene = simulate::cluster_named("selene");
  const Transformer gpt = transformer_named("gpt3-175b");
  const std::string text =
      "t=8 p=16 d=8 b=1 v=6 zero=1 recompute=selective comm=sequence-parallel overlap=ring levels=0/1/1 regather data-overlap "
      "post-validation";
  const Strategy s = parse_strategy(text, Spelling::brief);
  EXPECT_EQ(to_string(s, Spelling::brief), text);
  EXPECT_EQ(parse_strategy("t=2 recompute=attention interleave=3", Spelling::brief),
            parse_strategy("tensor=2 recompute=selective stages-per-rank=3", Spelling::brief));
  EXPECT_EQ(parse_strategy(to_string(s, Spelling::brief), Spelling::brief), s);
  EXPECT_FALSE(first_violation(facts_of(gpt, selene, 1024), s));
  const auto rule = [&](const char* t) { return first_violation(facts_of(gpt, selene, 1024), parse_strategy(t, Spelling::brief)).rule; };
  EXPECT_EQ(rule("t=5"), "heads");
  EXPECT_EQ(rule("p=97"), "stages");
  EXPECT_EQ(rule("v=2"), "interleaving");
  EXPECT_EQ(rule("d=3"), "batch");
  EXPECT_EQ(rule("d=2 b=1024"), "microbatch");
  EXPECT_EQ(rule("regather"), "regather");
  EXPECT_EQ(rule("overlap=ring"), "overlap");
  EXPECT_EQ(rule("zero=1"), "data");
  EXPECT_EQ(rule("e=2"), "experts");
  EXPECT_EQ(rule("schedule=ZB-H1"), "schedule");
  Strategy of_program;
  of_program.schedule = "GPipe";
  EXPECT_EQ(first_violation(facts_of(gpt, selene, 1024), of_program).message,
            "predictions know the schedules 1F1B, ZB-H1, ZB-H2, ZBV, not 'GPipe'");
  EXPECT_EQ(rule("post-validation"), "post-validation");
  EXPECT_EQ(rule("t=16 levels=0/0/0"), "network");
  EXPECT_THROW(parse_strategy("q=1", Spelling::brief), poplar::poplar_error);
  EXPECT_THROW(parse_strategy("t=x", Spelling::brief), poplar::poplar_error);
  EXPECT_THROW(parse_strategy("t=4294967297", Spelling::brief), poplar::poplar_error);
  EXPECT_THROW(parse_strategy("t=2 b=1 t=4", Spelling::brief), poplar::poplar_error);
  EXPECT_THROW(parse_strategy("recompute=some", Spelling::brief), poplar::poplar_error);
  EXPECT_THROW(transformer_named("gpt5"), poplar::poplar_error);
  EXPECT_THROW(simulate::cluster_named("abacus"), poplar::poplar_error);
}

TEST(Strategy, ThePartsAreTheWhole) {
  const auto& selene = simulate::cluster_named("selene");
  const Transformer gpt = transformer_named("gpt3-175b");
  for (const char* t : {"t=8 p=8 d=16", "t=8 p=1 d=128 zero=3", "t=4 p=16 d=16 v=3 b=2 recompute=full", "t=8 p=8 d=16 schedule=ZB-H1"}) {
    const Strategy s = parse_strategy(t, Spelling::brief);
    ASSERT_FALSE(first_violation(facts_of(gpt, selene, 1024), s)) << t;
    const Estimate e = estimate(facts_of(gpt, selene, 1024), s);
    EXPECT_NEAR(e.seconds,
                e.computing + e.recomputing + e.head + e.tensor_transfers + e.pipeline_transfers + e.data_transfers + e.bubble +
                    e.synchronisation + e.optimizer + e.host + e.offload,
                1e-9);
    EXPECT_GT(e.computing, 0) << t;
  }
}

TEST(Timeline, IsWhatTheEstimateSays) {
  const auto& selene = simulate::cluster_named("selene");
  const Transformer gpt = transformer_named("gpt3-175b");
  for (const char* text :
       {"t=8 p=8 d=16", "t=8 p=1 d=128 zero=1 b=2", "t=8 p=16 d=8 v=3 recompute=selective comm=sequence-parallel regather",
        "t=8 p=8 d=16 schedule=ZB-H1", "t=8 p=8 d=16 schedule=ZB-H2", "t=8 p=8 d=16 schedule=ZB-H2 post-validation",
        "t=8 p=8 d=16 schedule=ZBV", "t=8 p=8 d=16 schedule=ZBV post-validation", "t=8 p=8 d=16 post-validation",
        "t=8 p=8 d=16 recompute=full recompute-first=5", "t=8 p=16 d=8 v=3 recompute=selective recompute-first=1",
        "t=8 p=8 d=16 schedule=ZB-H1 recompute=full recompute-first=4", "t=8 p=32 d=4 recompute=full recompute-first=2",
        "t=8 p=8 d=16 schedule=ZBV recompute=full recompute-first=3"}) {
    const Strategy s = parse_strategy(text, Spelling::brief);
    const StepTimeline t = timeline_of(facts_of(gpt, selene, 1024), s);
    EXPECT_NEAR(t.seconds / estimate(facts_of(gpt, selene, 1024), s).seconds, 1, 0.03) << text;
    EXPECT_FALSE(schedule::first_broken_rule(t.table)) << text;
  }
  // Layers that do not divide: over ranks, over the stages of a rank, over a V.
  for (const char* text : {"t=8 p=7 d=1 b=1", "t=8 p=9 d=1 v=2 b=1 recompute=full", "t=8 p=7 d=1 v=3 b=1", "t=8 p=7 d=1 schedule=ZBV b=1",
                           "t=8 p=7 d=1 b=1 weighed", "t=8 p=11 d=1 schedule=ZB-H1 b=1", "t=8 p=13 d=1 v=5 b=1 recompute=selective"}) {
    const Strategy s = parse_strategy(text, Spelling::brief);
    Transformer odd = gpt;
    odd.vocab = std::string(text).find("weighed") != std::string::npos ? 400'000 : 51'200;
    ASSERT_FALSE(first_violation(facts_of(odd, selene, 7 * 9 * 11 * 13), s))
        << text << first_violation(facts_of(odd, selene, 7 * 9 * 11 * 13), s).message;
    const StepTimeline t = timeline_of(facts_of(odd, selene, 7 * 9 * 11 * 13), s);
    EXPECT_NEAR(t.seconds / estimate(facts_of(odd, selene, 7 * 9 * 11 * 13), s).seconds, 1, 0.04) << text;
    EXPECT_EQ(std::accumulate(t.layers.begin(), t.layers.end(), std::int64_t{0}), odd.layers) << text;
  }
  const StepTimeline t = timeline_of(facts_of(gpt, selene, 1024), parse_strategy("t=8 p=8 d=16", Spelling::brief));
  EXPECT_GT(t.ops, 1e7);
  EXPECT_THAT(chrome_trace(t, 1000), testing::HasSubstr("queries, keys, values"));
  EXPECT_THROW(timeline_of(facts_of(gpt, selene, 1024), parse_strategy("t=7", Spelling::brief)), poplar::poplar_error);
}

// What waiting for all ranks costs: nothing where the first rank to begin is the last one to end, and in a schedule without bubbles what
// ranks begin later. The closed form says what the replayed tables say.
TEST(Timeline, UpdatesWaitForAllRanks) {
  const auto& selene = simulate::cluster_named("selene");
  const Transformer gpt = transformer_named("gpt3-175b");
  for (const char* text : {"1F1B", "ZB-H1", "ZB-H2", "ZBV"}) {
    const std::string words = fmt::format("t=8 p=8 d=4 schedule={}", text);
    const Strategy waits = parse_strategy(words, Spelling::brief), validates = parse_strategy(words + " post-validation", Spelling::brief);
    const Estimate with = estimate(facts_of(gpt, selene, 128), waits), without = estimate(facts_of(gpt, selene, 128), validates);
    EXPECT_EQ(without.synchronisation, 0);
    EXPECT_NEAR(with.seconds - without.seconds, with.synchronisation, 1e-12);
    const StepTimeline a = timeline_of(facts_of(gpt, selene, 128), waits), b = timeline_of(facts_of(gpt, selene, 128), validates);
    EXPECT_NEAR(b.seconds - a.seconds, b.timing.span - a.timing.makespan, 1e-9);
    EXPECT_NEAR(with.synchronisation, a.seconds - b.seconds, 0.003 * a.seconds) << text;
    const bool stands = std::string(text) == "1F1B" || std::string(text) == "ZB-H1";
    if (stands)
      EXPECT_LT(with.synchronisation, 1e-3);
    else
      EXPECT_GT(with.synchronisation, 0.005 * with.seconds) << text;
  }
}

// Products in 8-bit floats take less time, by less than half: casts and everything else stay.
TEST(Strategy, EightBitProducts) {
  const auto &h100 = simulate::cluster_named("h100"), &b200 = simulate::cluster_named("b200");
  const Transformer llama = transformer_named("llama3-8b");
  const auto of = [&](const std::string& words) {
    return estimate(facts_of(llama, h100, 16), parse_strategy("t=1 d=8 b=1 zero=3 " + words, Spelling::brief));
  };
  const Estimate bf16 = of(""), fp8 = of("precision=fp8");
  EXPECT_LT(fp8.seconds, 0.85 * bf16.seconds);
  EXPECT_GT(fp8.seconds, 0.5 * bf16.seconds);
  EXPECT_EQ(fp8.head, bf16.head);
  EXPECT_EQ(fp8.memory_bytes(), bf16.memory_bytes());
  const auto why = [&](const simulate::Cluster& c, const char* words) {
    return first_violation(facts_of(llama, c, 16), parse_strategy(words, Spelling::brief)).message;
  };
  EXPECT_EQ(why(simulate::cluster_named("selene"), "d=8 precision=fp8"), "selene has no products in 8-bit floats");
  EXPECT_EQ(why(h100, "d=8 precision=mxfp8"), "h100 has no scales for blocks of 8-bit floats");
  EXPECT_EQ(why(b200, "d=8 precision=mxfp8"), "");
  const Result r = search(llama, h100, {8, 16});
  ASSERT_FALSE(r.best.empty());
  EXPECT_EQ(r.best[0].strategy.precision, Precision::fp8) << to_table(r);
}

// From no layer to all of a stage's, time and activations go in equal steps.
TEST(Strategy, SomeLayersComputeAgain) {
  const auto& selene = simulate::cluster_named("selene");
  const Transformer gpt = transformer_named("gpt3-175b");
  const auto of = [&](const std::string& words) { return estimate(facts_of(gpt, selene, 1024), parse_strategy(words, Spelling::brief)); };
  const auto held = [](const Estimate& e) { return e.memory[static_cast<std::size_t>(simulate::MemoryKind::activations)]; };
  for (const std::string kind : {" recompute=full", " recompute=selective"}) {
    for (const std::string words : {"t=8 p=8 d=16", "t=8 p=8 d=16 schedule=ZBV", "t=8 p=8 d=16 v=2 zero=3"}) {
      const Estimate none = of(words), all = of(words + kind);
      const std::int64_t layers = most_layers_of({gpt, selene}, parse_strategy(words, Spelling::brief));
      EXPECT_EQ(layers, words == "t=8 p=8 d=16" ? 12 : 6);
      for (std::int64_t n = 1; n < layers; ++n) {
        const Estimate some = of(fmt::format("{}{} recompute-first={}", words, kind, n));
        const double share = static_cast<double>(n) / static_cast<double>(layers);
        EXPECT_NEAR(some.recomputing, share * all.recomputing, 1e-9) << words << kind << n;
        EXPECT_NEAR(some.seconds, none.seconds + share * (all.seconds - none.seconds), 4e-3 * all.seconds) << words << kind << n;
        EXPECT_NEAR(held(some), held(none) + share * (held(all) - held(none)), 1e-6 * held(none)) << words << kind << n;
        EXPECT_NEAR(some.computing, none.computing, 1e-9 * none.computing) << words << kind << n;
      }
    }
  }
  const auto rule = [&](const char* t) {
    const Violation v = first_violation(facts_of(gpt, selene, 1024), parse_strategy(t, Spelling::brief));
    return v.rule + ": " + v.message;
  };
  EXPECT_EQ(rule("t=8 p=8 d=16 recompute=full recompute-first=11"), ": ");
  EXPECT_EQ(rule("t=8 p=8 d=16 recompute=full recompute-first=12"),
            "recompute-first: 12 layers of a stage are to be computed again; a stage has 12 (all of them: recompute=full alone)");
  EXPECT_EQ(rule("t=8 p=8 d=16 v=3 recompute=selective recompute-first=4"),
            "recompute-first: 4 layers of a stage are to be computed again; a stage has 4 (all of them: recompute=selective alone)");
  EXPECT_EQ(rule("recompute-first=2"), "recompute-first: 2 layers of a stage are to be computed again, but recomputation is none");
  EXPECT_EQ(rule("recompute=full recompute-first=-1"), "recompute-first: a number of layers is expected; 0: all");
}

// A head that weighs as much as several layers: the last stage has fewer of them.
TEST(Strategy, StagesAreWeighed) {
  const auto& selene = simulate::cluster_named("selene");
  Transformer m = transformer_named("gpt3-13b");
  m.vocab = 400'000;
  const Strategy even = parse_strategy("t=8 p=8 d=1", Spelling::brief), weighed = parse_strategy("t=8 p=8 d=1 weighed", Spelling::brief);
  ASSERT_FALSE(first_violation(facts_of(m, selene, 64), weighed));
  const auto layers = layers_of_ranks({m, selene}, weighed);
  ASSERT_EQ(layers.size(), 8u);
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), std::int64_t{0}), m.layers);
  EXPECT_LT(layers[7], layers[0]);
  EXPECT_TRUE(std::is_sorted(layers.begin(), layers.begin() + 7));
  EXPECT_LE(layers[6], layers[0] + 1);
  // No other division is quicker.
  const double layer = layer_costs(m, selene, weighed).computing_seconds, head = head_seconds(m, selene, weighed);
  const auto slowest = [&](std::int64_t last) {
    return std::max(layer * static_cast<double>((m.layers - last + 6) / 7), layer * static_cast<double>(last) + head);
  };
  for (std::int64_t last = 1; last <= m.layers - 7; ++last) EXPECT_GE(slowest(last), slowest(layers[7])) << last;
  EXPECT_LT(estimate(facts_of(m, selene, 64), weighed).seconds, 0.95 * estimate(facts_of(m, selene, 64), even).seconds);
  // 13 layers do not divide by 4 ranks.
  m.layers = 13;
  const auto few = layers_of_ranks({m, selene}, parse_strategy("t=8 p=4 d=1 weighed", Spelling::brief));
  EXPECT_EQ(std::accumulate(few.begin(), few.end(), std::int64_t{0}), 13);
  const auto rule = [&](const char* t) { return first_violation(facts_of(m, selene, 1024), parse_strategy(t, Spelling::brief)).rule; };
  EXPECT_EQ(rule("t=8 d=2 weighed"), "weighed");
  EXPECT_EQ(rule("t=8 p=2 schedule=ZBV weighed"), "weighed");
}

std::string results_of(const Result& r) {
  std::string text;
  for (const auto* list : {&r.best, &r.frontier}) {
    for (const Found& f : *list) {
      text += fmt::format("{} {} {} {}\n", f.index, f.estimate.seconds, f.estimate.memory_bytes(), to_string(f.strategy, Spelling::brief));
    }
  }
  return text;
}

TEST(Search, EqualsBruteForce) {
  const auto& selene = simulate::cluster_named("selene");
  struct Case {
    const char* model;
    std::int64_t devices, batch;
    double memory;
    Reach reach;
    const char* require;
    std::int64_t recompute_sets = 0;
  };
  for (const Case& c :
       {Case{"gpt3-13b", 16, 32, 0, Reach::calculon, ""}, Case{"gpt3-13b", 8, 16, 40e9, Reach::calculon, ""},
        Case{"gpt3-xl", 8, 8, 12e9, Reach::everything, ""}, Case{"gpt2", 12, 24, 0, Reach::everything, "t=2"},
        Case{"gpt3-xl", 16, 16, 1e9, Reach::calculon, ""}, Case{"megatron-22b", 16, 16, 0, Reach::everything, "recompute=selective zero=1"},
        Case{"gpt3-13b", 28, 56, 30e9, Reach::everything, "t=4 p=7"}, Case{"gpt3-13b", 36, 36, 0, Reach::everything, "t=4 p=9"},
        Case{"gpt3-13b", 16, 32, 25e9, Reach::calculon, "", 4}, Case{"gpt3-13b", 8, 16, 40e9, Reach::everything, "t=2 p=4", 100},
        Case{"gpt2", 12, 24, 0, Reach::everything, "t=2 recompute=full", 3}}) {
    const Transformer m = transformer_named(c.model);
    Space space{c.devices, c.batch, c.reach, c.memory, c.require};
    space.recompute_sets = c.recompute_sets;
    const Result quick = search(m, selene, space, {.top = 3, .frontier = true}),
                 slow = search(m, selene, space, {.top = 3, .frontier = true, .brute_force = true});
    EXPECT_EQ(results_of(quick), results_of(slow)) << c.model;
    const Certificate& q = quick.certificate;
    EXPECT_EQ(q.points, q.evaluated + q.by_rule + q.by_memory + q.by_time) << c.model;
    EXPECT_EQ(q.points, slow.certificate.points);
    EXPECT_LT(q.evaluated, slow.certificate.evaluated);
    EXPECT_EQ(q.gap(), 0);
    EXPECT_EQ(results_of(search(m, selene, space)), results_of(search(m, selene, space, {.brute_force = true})));
  }
}

// Words that change neither time nor memory are not rows of their own, whichever the search looks at.
TEST(Search, EqualStrategiesAreOneRow) {
  const auto rows_of = [](const char* model, const char* machine, const char* stack, const char* require, bool brute_force) {
    const Transformer m = transformer_named(model);
    const simulate::Cluster cluster = with_stack(simulate::cluster_named(machine), stack_named(stack));
    const Space space{.devices = 16, .batch = 32, .require = require};
    const Result r = search(m, cluster, space, {.top = 300, .brute_force = brute_force});
    std::vector<std::string> rows;
    for (const Found& f : r.best) rows.push_back(fmt::format("{} ({})", to_string(f.strategy, Spelling::brief), fmt::join(f.equals, ", ")));
    std::set<std::string> taken;
    for (const Found& f : r.best) {
      Strategy plain = f.strategy;
      plain.tensor_overlap = TensorOverlap::none, plain.precision = Precision::bf16, plain.data_overlap = false;
      const std::string row = fmt::format("{} {:a} {:a}", to_string(plain, Spelling::brief), f.estimate.seconds, f.estimate.memory_bytes());
      EXPECT_TRUE(taken.insert(row).second) << row;
    }
    return rows;
  };
  using testing::AllOf, testing::Contains, testing::Each, testing::HasSubstr, testing::Not;
  const auto b200 = rows_of("llama3-8b", "b200", "megatron", "t=2", false);
  EXPECT_THAT(b200, Contains(AllOf(HasSubstr("overlap=ring precision=fp8"), HasSubstr("(precision=mxfp8, overlap=pipe)"))));
  EXPECT_THAT(b200, Each(Not(HasSubstr("precision=mxfp8 "))));
  EXPECT_EQ(b200, rows_of("llama3-8b", "b200", "megatron", "t=2", true));
  // Rings of four parts and two halves differ.
  EXPECT_THAT(rows_of("llama3-8b", "h100", "megatron", "t=4", false),
              AllOf(Contains(HasSubstr("overlap=pipe")), Contains(HasSubstr("overlap=ring")), Each(Not(HasSubstr("(overlap")))));
  // Where transfers of data parallelism hide behind nothing.
  EXPECT_THAT(rows_of("llama3-8b", "h100", "deepspeed", "d=16", false), Contains(HasSubstr("(data-overlap)")));
  // What is demanded stands alone.
  EXPECT_THAT(rows_of("llama3-8b", "b200", "megatron", "t=2 precision=mxfp8 overlap=pipe", false), Each(HasSubstr("()")));
}

// Random small models, machines and spaces: the search finds what looking at every point finds; and no strategy that somebody may write
// down, obeys the rules and fits is quicker than the best of the space of trainers.
TEST(Search, RandomSpaces) {
  const auto seed = static_cast<std::uint32_t>(std::stoul(std::getenv("PANDO_SEED") ? std::getenv("PANDO_SEED") : "1"));
  fmt::print("PANDO_SEED={}\n", seed);
  for (std::uint32_t round = 0; round < 12; ++round) {
    std::mt19937 random(seed * 1000 + round);
    const auto one_of = [&](std::initializer_list<std::int64_t> all) { return all.begin()[random() % all.size()]; };
    Transformer m;
    m.heads = one_of({4, 6, 8, 12}), m.hidden = m.heads * 64, m.ffn = 4 * m.hidden;
    m.layers = 1 + random() % 13, m.seq = one_of({64, 96, 128}), m.vocab = one_of({1000, 32000, 256000});
    m.kv_heads = one_of({0, 2}), m.gated = random() % 2, m.keeps_scores = random() % 2, m.dropout = random() % 2;
    if (random() % 3 == 0) m.experts = 4, m.experts_each = 2, m.expert_ffn = m.hidden, m.dense_layers = random() % m.layers;
    const auto& cluster = simulate::cluster_named(random() % 2 ? "selene" : "h100");
    Space space{one_of({4, 6, 8, 12}), one_of({6, 8, 12}), static_cast<Reach>(random() % 3)};
    if (space.reach == Reach::everything) space.require = "c=1";
    space.memory = std::exp(std::uniform_real_distribution<double>(std::log(2e7), std::log(1e9))(random));
    const std::string what = fmt::format("seed {} round {}: {} layers, {} devices, a batch of {}, space {}, {:.0f} bytes", seed, round,
                                         m.layers, space.devices, space.batch, name_of(space.reach), space.memory);
    const Result quick = search(m, cluster, space, {.top = 3, .frontier = true}),
                 slow = search(m, cluster, space, {.top = 3, .frontier = true, .brute_force = true});
    EXPECT_EQ(results_of(quick), results_of(slow)) << what;
    const Certificate& q = quick.certificate;
    EXPECT_EQ(q.points, q.evaluated + q.by_rule + q.by_memory + q.by_time) << what;
    // Equal strategies are one row.
    std::set<std::string> rows;
    for (const Found& f : slow.frontier) EXPECT_TRUE(rows.insert(to_string(f.strategy, Spelling::brief)).second) << what;
    space.reach = Reach::trainers, space.require = "";
    const Result best = search(m, cluster, space);
    for (int i = 0; i < 1500; ++i) {
      Strategy s;
      s.tensor = one_of({1, 2, 3, 4}), s.context = one_of({1, 1, 2, 3}), s.pipeline = 1 + random() % m.layers;
      s.data = space.devices / (s.tensor * s.context * s.pipeline);
      s.stages_per_rank = one_of({1, 1, 2, 3}), s.microbatch = one_of({1, 1, 2, 3}), s.expert_in_data = one_of({1, 2, 4}),
      s.zero = random() % 4;
      s.recompute = static_cast<Recompute>(random() % 3), s.weighed = random() % 2, s.data_overlap = random() % 2;
      s.precision = static_cast<Precision>(random() % 3);
      s.sequence_parallel = random() % 2 == 0;
      s.regather = random() % 2, s.tensor_overlap = static_cast<TensorOverlap>(random() % 3);
      s.schedule = std::array{"1F1B", "ZB-H1", "ZBV"}[random() % 3];
      if (s.data < 1 || s.devices() != space.devices || first_violation(facts_of(m, cluster, space.batch), s)) continue;
      const Estimate e = estimate(facts_of(m, cluster, space.batch), s);
      if (e.memory_bytes() > space.memory) continue;
      ASSERT_FALSE(best.best.empty()) << what << " but this fits: " << to_string(s, Spelling::brief);
      EXPECT_GE(e.seconds, best.best[0].estimate.seconds * (1 - 1e-12)) << what << ": " << to_string(s, Spelling::brief);
    }
  }
}

// Where all activations are too much, computing some again costs less than computing all.
TEST(Search, SomeLayersAgainAreQuickerThanAll) {
  const auto& selene = simulate::cluster_named("selene");
  const Transformer m = transformer_named("llama3-70b");
  Space space{64, 128, Reach::calculon, 40e9, ""};
  const Result all = search(m, selene, space);
  space.recompute_sets = 100;
  const Result some = search(m, selene, space);
  ASSERT_FALSE(all.best.empty() || some.best.empty());
  EXPECT_GT(some.certificate.points, all.certificate.points);
  EXPECT_GT(some.best[0].strategy.recompute_first, 0) << to_table(some);
  EXPECT_LT(some.best[0].estimate.seconds, 0.95 * all.best[0].estimate.seconds);
  // What is demanded is in a space without sets, too.
  space.recompute_sets = 0;
  space.require = "recompute=full recompute-first=3";
  const Result demanded = search(m, selene, space);
  ASSERT_FALSE(demanded.best.empty());
  EXPECT_EQ(demanded.best[0].strategy.recompute_first, 3);
}

TEST(Search, WhyNot) {
  const auto& selene = simulate::cluster_named("selene");
  const Transformer m = transformer_named("gpt3-13b");
  const Space space{16, 32, Reach::calculon, 0, ""};
  const Result r = search(m, selene, space);
  ASSERT_FALSE(r.best.empty());
  const auto why = [&](const char* t) { return why_not(m, selene, space, parse_strategy(t, Spelling::brief), r); };
  EXPECT_THAT(why("t=3 d=5"), testing::HasSubstr("heads"));
  EXPECT_THAT(why("t=1 d=16 b=2"), testing::AllOf(testing::HasSubstr("memory: a device of stage 0 needs"),
                                                  testing::HasSubstr("226.33 more than the 80.00 that it has")));
  EXPECT_THAT(why("t=8 p=2 d=1 recompute=full"), testing::HasSubstr("slower than the best"));
  EXPECT_THAT(why("t=8 p=1 d=1"), testing::HasSubstr("devices: it takes 8"));
  EXPECT_THAT(why("t=8 p=2 d=1 recompute=full recompute-first=99"),
              testing::HasSubstr("99 layers of a stage are to be computed again; a stage has 20"));
  EXPECT_THAT(frontier_svg(report_of(search(m, selene, space, {.frontier = true})), 8e10), testing::HasSubstr("<path d=\"M"));
  EXPECT_THAT(to_table(r), testing::HasSubstr("certificate: "));
}

// Every word may be demanded.
TEST(Search, WhatIsDemandedHolds) {
  const auto& selene = simulate::cluster_named("selene");
  const Transformer m = transformer_named("gpt3-xl");
  for (const Reach reach : {Reach::calculon, Reach::trainers, Reach::everything}) {
    for (const char* words : {"d=2 t=2 comm=sequence-parallel regather", "t=2 overlap=ring", "d=2 data-overlap", "zero=1 t=1", "v=2 p=2",
                              "t=2 levels=0/0/0", "p=2 post-validation", "b=2"}) {
      const Space space{8, 8, reach, 0, words};
      const Result r = search(m, selene, space, {.top = 50});
      if (reach != Reach::calculon && std::string(words).find("levels") != std::string::npos) {
        EXPECT_TRUE(r.best.empty()) << words;
        continue;
      }
      EXPECT_FALSE(r.best.empty()) << words;
      for (const Found& f : r.best) {
        const std::string found = " " + to_string(f.strategy, Spelling::brief) + " ";
        std::istringstream all(words);
        for (std::string word; all >> word;) EXPECT_NE(found.find(" " + word + " "), std::string::npos) << word << " in" << found;
      }
    }
  }
  // An axis that is closed has no such points.
  EXPECT_TRUE(search(m, selene, {8, 8, Reach::trainers, 0, "offload-weights"}).best.empty());
  const Result far = search(m, selene, {8, 8, Reach::everything, 0, "offload-weights"});
  ASSERT_FALSE(far.best.empty());
  EXPECT_TRUE(far.best[0].strategy.offload_weights);
}

TEST(Search, CalculonsSpace) {
  const Space space{1024, 1024, Reach::calculon, 0, ""};
  EXPECT_EQ(search(transformer_named("gpt3-175b"), simulate::cluster_named("selene"), space).certificate.points, 1011120);
}

}  // namespace
}  // namespace pando::search
