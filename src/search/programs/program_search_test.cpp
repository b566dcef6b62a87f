#include "search/programs/program_search.h"

#include "base/host_memory.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "models/gpt.h"
#include "models/mlp.h"
#include "pando/model_error.hpp"
#include "search/axis.h"
#include "search/programs/bridge.h"
#include "search/programs/program_size.h"
#include "search/search.h"
#include "search/strategy_text.h"
#include "simulate/costs/flatten.h"
#include "transform/distribute/annotate.h"
#include "transform/distribute/checks/equality.h"

#include "schedule/synthesised.h"

#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include <map>
#include <set>

namespace pando::search {
namespace {

using testing::HasSubstr;
using transform::Strategy;

transform::Program small_gpt() {
  models::Gpt g;
  g.layers = 3;
  g.width = 64;
  g.heads = 4;
  g.sequence = 16;
  g.batch = 8;
  g.vocabulary = 64;
  return models::build_gpt(g);
}

TEST(ProgramStrategy, WordsAreReadAgain) {
  for (const char* text : {"data=1", "data=2 tensor=2 microbatches=4 zero=3",
                           "pipeline=2 microbatches=2 stages-per-rank=2 schedule=Interleaved1F1B layers=1/2/1/1",
                           "tensor=4 recompute=full recompute-layers=0/2 sequence-parallel offload=weights/activations",
                           "tensor=2 pipeline=2 schedule=ZB-H1 cut=block*.up:-1;embedding:0 order=pipeline/tensor"}) {
    EXPECT_EQ(to_string(parse_strategy(text, Spelling::whole), Spelling::whole), text);
  }
  EXPECT_EQ(to_options(parse_strategy("tensor=2 cut=a:0;b:1 order=tensor/data", Spelling::whole)),
            "--tensor 2 --cut 'a:0,b:1' --order tensor,data");
  EXPECT_EQ(to_options(parse_strategy("pipeline=2 layers=1/2 sequence-parallel", Spelling::whole)),
            "--pipeline 2 --schedule 1F1B --layers-per-stage 1,2 --sequence-parallel");
  // Words of a transformer's strategy that mean the same; a name alone is cut along dimension 0.
  EXPECT_EQ(to_string(parse_strategy("t=2 p=2 c=2 e=2 v=2", Spelling::whole), Spelling::whole),
            to_string(parse_strategy("tensor=2 pipeline=2 context=2 expert=2 stages-per-rank=2", Spelling::whole), Spelling::whole));
  EXPECT_EQ(to_string(parse_strategy("d=2 interleave=2", Spelling::whole), Spelling::whole), "data=2 stages-per-rank=2");
  // The whole words mean the same of a prediction.
  EXPECT_EQ(to_string(parse_strategy("tensor=2 data=4 microbatch=2 pipeline=3 stages-per-rank=2", Spelling::brief), Spelling::brief),
            "t=2 p=3 d=4 b=2 v=2");
  EXPECT_EQ(to_string(parse_strategy("tensor=2 sequence-parallel", Spelling::brief), Spelling::brief),
            "t=2 p=1 d=1 b=1 comm=sequence-parallel");
  EXPECT_EQ(to_string(parse_strategy("t=2 comm=sequence-parallel", Spelling::whole), Spelling::whole), "tensor=2 sequence-parallel");
  EXPECT_THROW(parse_strategy("sequence-parallel=all-reduce", Spelling::brief), poplar::poplar_error);
  EXPECT_THROW(parse_strategy("layers=1/2", Spelling::brief), poplar::poplar_error);
  EXPECT_THROW(parse_strategy("microbatch=2", Spelling::whole), poplar::poplar_error);
  EXPECT_EQ(to_string(parse_strategy("tensor=2 cut=a", Spelling::whole), Spelling::whole), "tensor=2 cut=a:0");
  EXPECT_EQ(to_options(parse_strategy("recompute=selective recompute-layers=1", Spelling::whole)),
            "--recompute selective --recompute-layers 1");
  for (const char* wrong : {"datum=2", "data=x", "data=0", "schedule=mine", "schedule=none.csv", "recompute=some", "offload=all", "zero=-1",
                            "cut=a:x", "cut=a:-2", "cut=:1", "order=samples", "order=data/data"}) {
    EXPECT_THROW(parse_strategy(wrong, Spelling::whole), poplar::poplar_error) << wrong;
  }
}

// What is left out cannot win, and nothing is counted twice.
TEST(ProgramSearch, TheBestOfAllPoints) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  const transform::Program mlp = models::build_mlp({.layers = 5, .width = 128, .batch = 16, .learning_rate = 0.1}), gpt = small_gpt();
  for (const transform::Program* p : {&mlp, &gpt}) {
    for (const std::int32_t devices : {2, 4}) {
      Space space{.devices = devices, .most_microbatches = 4};
      const ProgramResult quick = search_program(*p, cluster, space, {.top = 3}),
                          all = search_program(*p, cluster, space, {.top = 3, .brute_force = true});
      ASSERT_EQ(quick.best.size(), 3u);
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(quick.best[i].index, all.best[i].index)
            << to_string(quick.best[i].strategy, Spelling::whole) << " / " << to_string(all.best[i].strategy, Spelling::whole);
      }
      for (const ProgramResult* r : {&quick, &all}) {
        const Certificate& c = r->certificate;
        EXPECT_EQ(c.points, c.evaluated + c.by_rule + c.by_memory + c.by_time);
      }
      EXPECT_EQ(quick.certificate.points, all.certificate.points);
      EXPECT_GT(quick.certificate.by_time, 0);
    }
  }
}

// The same where memory is scarce: what is left out does not fit.
TEST(ProgramSearch, TheBestOfAllPointsThatFit) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  models::Gpt g;
  g.layers = 2, g.width = 32, g.heads = 4, g.sequence = 8, g.batch = 8, g.vocabulary = 64;
  g.optimizer.kind = models::Optimizer::adam;
  const transform::Program gpt = models::build_gpt(g);
  const ProgramResult free = search_program(gpt, cluster, {.devices = 4, .most_microbatches = 2}, {.frontier = true});
  const auto smallest = static_cast<double>(free.frontier.front().estimate.peak), fastest = static_cast<double>(free.best[0].estimate.peak);
  ASSERT_LT(smallest, 0.7 * fastest);
  for (const double share : {0.0, 0.5}) {
    const Space space{.devices = 4, .memory = smallest + share * (fastest - smallest), .most_microbatches = 2};
    const ProgramResult quick = search_program(gpt, cluster, space), all = search_program(gpt, cluster, space, {.brute_force = true});
    ASSERT_FALSE(quick.best.empty());
    EXPECT_EQ(quick.best[0].index, all.best[0].index) << to_table(quick) << to_table(all);
    const Certificate& c = quick.certificate;
    EXPECT_EQ(c.points, c.evaluated + c.by_rule + c.by_memory + c.by_time);
    EXPECT_GT(c.by_memory, 0);
    EXPECT_LE(c.by_memory + c.too_large, all.certificate.too_large);
  }
  const Space nothing{.devices = 4, .memory = smallest - 1, .most_microbatches = 2};
  const ProgramResult none = search_program(gpt, cluster, nothing);
  EXPECT_TRUE(none.best.empty());
  EXPECT_GT(none.certificate.by_memory, none.certificate.too_large) << to_table(none);
}

TEST(ProgramSearch, NoPeakIsBelowItsBound) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  models::Gpt g;
  g.layers = 6, g.width = 32, g.heads = 4, g.sequence = 16, g.batch = 16, g.vocabulary = 64;
  for (const auto kind : {models::Optimizer::sgd, models::Optimizer::adam}) {
    g.optimizer.kind = kind;
    const transform::Program gpt = models::build_gpt(g);
    for (const char* words : {"data=1",
                              "data=4",
                              "data=4 zero=1",
                              "data=4 zero=2 microbatches=4",
                              "data=4 zero=3 microbatches=2",
                              "tensor=4",
                              "tensor=2 sequence-parallel",
                              "context=4",
                              "microbatches=8",
                              "microbatches=4 recompute=full",
                              "microbatches=4 recompute=selective",
                              "microbatches=4 recompute=full recompute-layers=1/4",
                              "pipeline=2 microbatches=8 schedule=ZB-H1 recompute=full recompute-layers=1",
                              "recompute=full recompute-layers=2/3 offload=activations microbatches=4",
                              "offload=activations microbatches=4",
                              "offload=weights/optimizer data=2",
                              "pipeline=4 microbatches=8",
                              "pipeline=4 microbatches=8 schedule=GPipe",
                              "pipeline=2 microbatches=8 schedule=ZB-H1 data=2 zero=2",
                              "pipeline=2 microbatches=8 schedule=ZBV stages-per-rank=2",
                              "pipeline=2 microbatches=8 schedule=DualPipeV stages-per-rank=2",
                              "pipeline=4 microbatches=16 schedule=eager-1F1B recompute=full",
                              "pipeline=2 stages-per-rank=3 schedule=Interleaved1F1B microbatches=4 tensor=2 recompute=selective",
                              "pipeline=2 stages-per-rank=2 schedule=LoopedBFS microbatches=4 context=2 offload=optimizer",
                              "tensor=2 cut=embedding:0;block*.up:-1"}) {
      const Strategy s = parse_strategy(words, Spelling::whole, {.first_device = 0});
      const LeastMemory least = least_program_memory(gpt, s);
      const std::int64_t peak = estimate_program(gpt, s, cluster).peak;
      EXPECT_LE(least.bytes(), peak) << words;
      EXPECT_GE(static_cast<double>(least.bytes()), 0.3 * static_cast<double>(peak)) << words;
      EXPECT_GT(least.variables + least.activations, 0) << words;
    }
  }
}

// Adam's states are the optimizer's, though it is plain arithmetic; what it takes are gradients.
TEST(ProgramSearch, MemoryOfAdamByKind) {
  models::Gpt g;
  g.optimizer.kind = models::Optimizer::adam;
  const transform::Program gpt = models::build_gpt(g);
  std::int64_t weights = 0, states = 0;
  const ir::Module& m = gpt.module;
  std::map<std::string, std::int64_t> bytes;
  for (ir::ValueId v : m.graph(m.main_graph()).inputs) bytes[m.name_of(v)] = m.types().bytes_of(m.value(v).type);
  const std::int64_t samples = bytes.at("tokens") + bytes.at("labels");
  for (const auto& [name, n] : bytes) {
    const bool moment = (name.ends_with(".m") || name.ends_with(".v")) && bytes.contains(name.substr(0, name.size() - 2));
    if (moment || name == "step")
      states += n;
    else if (name != "tokens" && name != "labels")
      weights += n;
  }
  for (const char* words : {"data=1", "data=2", "pipeline=2 microbatches=2"}) {
    const Strategy s = parse_strategy(words, Spelling::whole, {.first_device = 0});
    simulate::KindBytes most{};
    const auto p = simulate::flatten(transform::parallelise(gpt, s).module, simulate::ClusterCostModel(simulate::cluster_named("bow-pod")));
    std::int64_t given_states = 0, given_weights = 0;
    for (const simulate::Slot& slot : p.bodies[0].slots) {
      if (!slot.given) continue;
      if (slot.kind == simulate::MemoryKind::optimizer) given_states += slot.bytes;
      if (slot.kind == simulate::MemoryKind::weights) given_weights += slot.bytes;
    }
    const std::int64_t copies = s.data, steps = s.pipeline;
    EXPECT_GE(given_weights, copies * weights) << words;
    EXPECT_LE(given_weights, copies * weights + samples) << words;
    EXPECT_NEAR(static_cast<double>(given_states), static_cast<double>(copies * states), 8.0 * static_cast<double>(steps)) << words;
    for (const auto& d : simulate::measure_memory(p)) {
      for (std::size_t k = 0; k < most.size(); ++k) most[k] = std::max(most[k], d.most[k]);
    }
    EXPECT_GT(most[static_cast<std::size_t>(simulate::MemoryKind::gradients)], weights / (2 * s.pipeline)) << words;
    EXPECT_LT(most[static_cast<std::size_t>(simulate::MemoryKind::gradients)], 3 * weights) << words;
  }
}

// Where what nothing computes again does not fit, and all of it is more than is needed: some layers do.
TEST(ProgramSearch, SomeLayersComputeAgain) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  models::Gpt g;
  g.layers = 4, g.width = 32, g.heads = 4, g.sequence = 32, g.batch = 16, g.vocabulary = 64;
  const transform::Program gpt = models::build_gpt(g);
  for (const char* demand : {"microbatches=4", "pipeline=2 microbatches=4 layers=3/3"}) {
    Space space{.devices = std::string(demand).starts_with("pipeline") ? 2 : 1, .require = demand};
    const auto peak = [&](const std::string& more) {
      return static_cast<double>(estimate_program(gpt, parse_strategy(demand + more, Spelling::whole, {.first_device = 0}), cluster).peak);
    };
    const double none = peak(""), full = peak(" recompute=full");
    ASSERT_LT(full, 0.8 * none) << demand;
    std::set<std::string> winners;
    for (const double share : {0.05, 0.3, 0.6, 0.9}) {
      space.memory = full + share * (none - full);
      space.recompute_sets = 0;
      const ProgramResult without = search_program(gpt, cluster, space);
      space.recompute_sets = 100;
      const ProgramResult quick = search_program(gpt, cluster, space), all = search_program(gpt, cluster, space, {.brute_force = true});
      ASSERT_FALSE(quick.best.empty());
      EXPECT_EQ(quick.best[0].index, all.best[0].index) << to_table(quick) << to_table(all);
      const Certificate& c = quick.certificate;
      EXPECT_EQ(c.points, c.evaluated + c.by_rule + c.by_memory + c.by_time);
      EXPECT_EQ(c.points, all.certificate.points);
      EXPECT_LE(static_cast<double>(quick.best[0].estimate.peak), space.memory);
      EXPECT_LE(quick.best[0].estimate.seconds, without.best[0].estimate.seconds);
      EXPECT_FALSE(quick.best[0].strategy.recomputed_layers.empty());
      winners.insert(to_string(quick.best[0].strategy, Spelling::whole));
      EXPECT_TRUE(compare(gpt, transform::parallelise(gpt, quick.best[0].strategy), 3).equal());
      // Fewer sets: those of the chain.
      space.recompute_sets = 3;
      const ProgramResult few = search_program(gpt, cluster, space);
      EXPECT_LT(few.certificate.points, c.points);
      EXPECT_EQ(few.best[0].index, search_program(gpt, cluster, space, {.brute_force = true}).best[0].index);
      EXPECT_LE(few.best[0].estimate.seconds, without.best[0].estimate.seconds);
    }
    EXPECT_GE(winners.size(), 3u) << demand;
    // The same answer, and why other layers are none.
    space.memory = full + 0.3 * (none - full);
    space.recompute_sets = 100;
    const ProgramResult r = search_program(gpt, cluster, space);
    const auto why = [&](const std::string& more) {
      return why_not(gpt, cluster, space, parse_strategy(demand + more, Spelling::whole, {.first_device = 0}), r);
    };
    EXPECT_THAT(why(" recompute=full recompute-layers=0"), HasSubstr("memory: device 0 needs"));
    EXPECT_THAT(why(" recompute=full recompute-layers=9"), HasSubstr("recompute-layers: layer 9 is to be recomputed; the program has 6"));
    EXPECT_EQ(why_not(gpt, cluster, space, r.best[0].strategy, r), "it is the best\n");
    EXPECT_THAT(why(" recompute=full"), HasSubstr("slower than the best"));
  }
}

// A demanded set is the only one; early stages of a pipeline, which hold most microbatches, come first.
TEST(ProgramSearch, WhichLayersComputeAgain) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  models::Gpt g;
  g.layers = 6, g.width = 32, g.heads = 4, g.sequence = 32, g.batch = 16, g.vocabulary = 64;
  const transform::Program gpt = models::build_gpt(g);
  Space space{.devices = 4, .require = "pipeline=4 microbatches=8 layers=2/2/2/2 schedule=1F1B recompute=full"};
  space.recompute_sets = 5;
  const ProgramResult r = search_program(gpt, cluster, space, {.top = 100, .brute_force = true});
  ASSERT_EQ(r.certificate.points, 6);
  std::size_t most = 0;
  for (const FoundProgram& f : r.best) {
    std::array<int, 4> of_stage{};
    for (std::uint32_t l : f.strategy.recomputed_layers) ++of_stage[l / 2];
    most = std::max(most, f.strategy.recomputed_layers.size());
    if (f.strategy.recomputed_layers.size() == 1) EXPECT_EQ(f.strategy.recomputed_layers[0] / 2, 1u) << "the first whole stage of blocks";
  }
  EXPECT_GE(most, 5u);
  space.require += " recompute-layers=1/2";
  const ProgramResult one = search_program(gpt, cluster, space, {.top = 100, .brute_force = true});
  ASSERT_EQ(one.best.size(), 1u);
  EXPECT_EQ(one.best[0].strategy.recomputed_layers, (std::vector<std::uint32_t>{1, 2}));
}

// A weight that the transforms leave whole, or cut another way: some point with a cut holds less than all without.
TEST(ProgramSearch, AWeightIsCut) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  models::Gpt g;
  g.layers = 2, g.width = 8, g.heads = 2, g.sequence = 4, g.batch = 4, g.vocabulary = 512;
  const transform::Program gpt = models::build_gpt(g);
  Space space{.devices = 2, .require = "tensor=2"};
  const ProgramResult plain = search_program(gpt, cluster, space);
  space.cuts = 1;
  space.memory = static_cast<double>(plain.best[0].estimate.peak) - 4000;
  const ProgramResult r = search_program(gpt, cluster, space, {.brute_force = true});
  ASSERT_FALSE(r.best.empty()) << to_table(r);
  EXPECT_THAT(to_string(r.best[0].strategy, Spelling::whole), HasSubstr("cut=")) << to_table(r);
  EXPECT_GT(r.certificate.points, 10 * plain.certificate.points);
  const transform::Equality e = compare(gpt, transform::parallelise(gpt, r.best[0].strategy), 3);
  EXPECT_TRUE(e.equal()) << to_text(e);
  EXPECT_EQ(search_program(gpt, cluster, space).best[0].index, r.best[0].index);
}

// Two tables that stay whole unless somebody says otherwise: only what says it of both fits.
TEST(ProgramSearch, SeveralWeightsAreCut) {
  const transform::Program p = transform::annotate(ir::parse(R"(module
graph main(i: Tensor[(8), int32], j: Tensor[(8), int32], a: Tensor[(512, 8), float32], b: Tensor[(512, 8), float32]):
    x: Tensor[(8, 8), float32] = gather(a, i, axis=0)
    y: Tensor[(8, 8), float32] = gather(b, j, axis=0)
    z: Tensor[(8, 8), float32] = add(x, y)
    return z
)"),
                                                   {{{"i", 0}, {"j", 0}}, {}, {}, {}});
  const auto& cluster = simulate::cluster_named("bow-pod");
  Space space{.devices = 2, .require = "tensor=2"};
  const auto best = [&](std::int32_t cuts) {
    space.cuts = cuts;
    return search_program(p, cluster, space, {.top = 1000, .brute_force = true});
  };
  const auto smallest = [](const ProgramResult& r) {
    std::int64_t least = r.best.front().estimate.peak;
    for (const FoundProgram& f : r.best) least = std::min(least, f.estimate.peak);
    return least;
  };
  const ProgramResult none = best(0), one = best(1), two = best(2), three = best(3);
  EXPECT_LT(smallest(one), smallest(none) - 4000);
  EXPECT_LT(smallest(two), smallest(one) - 4000);
  EXPECT_EQ(three.certificate.points, two.certificate.points);
  // No two say the same, and each of the three cuts of a table (rows, columns, whole) meets those of the other.
  std::set<std::string> programs, words;
  for (const FoundProgram& f : two.best) {
    programs.insert(ir::print(transform::parallelise(p, f.strategy).module));
    words.insert(to_string(f.strategy, Spelling::whole));
  }
  EXPECT_EQ(programs.size(), two.best.size());
  EXPECT_TRUE(words.contains("tensor=2 cut=a:1;b:1")) << to_table(two);
  space.memory = static_cast<double>(smallest(one) - 1);
  const ProgramResult r = search_program(p, cluster, space), all = search_program(p, cluster, space, {.brute_force = true});
  ASSERT_FALSE(r.best.empty());
  EXPECT_EQ(r.best[0].index, all.best[0].index);
  EXPECT_EQ(r.best[0].strategy.cut.size(), 2u) << to_table(r);
  EXPECT_TRUE(compare(p, transform::parallelise(p, r.best[0].strategy), 3).equal());
}

TEST(ProgramSearch, TooManyCutsAreRejected) {
  const transform::Program p = models::build_mlp({.layers = 12, .width = 4, .batch = 4});
  std::string text = ir::print(p.module);
  // Layers of one name are one weight: here each has a name of its own.
  for (char c = 'a'; c < 'm'; ++c) {
    const std::string from = "w" + std::to_string(c - 'a'), to = std::string("w") + c;
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
      const bool longer = at + from.size() < text.size() && text[at + from.size()] >= '0' && text[at + from.size()] <= '9';
      if (!longer) text.replace(at, from.size(), to);
    }
  }
  const transform::Program named = transform::annotate(ir::parse(text), {});
  Space space{.devices = 2, .require = "tensor=2"};
  space.cuts = 8;
  try {
    search_program(named, simulate::cluster_named("bow-pod"), space);
    ADD_FAILURE() << "searched";
  } catch (const poplar::poplar_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("8 weights at once, of 12, can be cut in more than 100000 ways"));
  }
}

TEST(ProgramSearch, SchedulesByNameAndFromTables) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  const transform::Program gpt = small_gpt();
  Space space{.devices = 2, .require = "pipeline=2 microbatches=4", .most_microbatches = 4};
  space.schedules = {"all"};
  const ProgramResult all = search_program(gpt, cluster, space, {.top = 500, .brute_force = true});
  std::set<std::string> seen;
  for (const FoundProgram& f : all.best) seen.insert(f.strategy.schedule);
  EXPECT_EQ(seen.size(), schedule::names().size());
  EXPECT_EQ(search_program(gpt, cluster, space).best[0].index, all.best[0].index);
  space.schedules = {"GPipe"};
  space.tables = {{"mine.csv", schedule::generate("ZB-H1", {2, 4, 1})}, {"other.csv", schedule::generate("ZB-H1", {2, 8, 1})}};
  const ProgramResult tables = search_program(gpt, cluster, space, {.top = 500, .brute_force = true});
  seen.clear();
  for (const FoundProgram& f : tables.best) seen.insert(f.strategy.schedule);
  EXPECT_EQ(seen, (std::set<std::string>{"GPipe", "mine.csv"}));
  EXPECT_EQ(search_program(gpt, cluster, space).best[0].index, tables.best[0].index);
  EXPECT_EQ(tables.best[0].strategy.schedule, "mine.csv") << to_table(tables);
  EXPECT_TRUE(compare(gpt, transform::parallelise(gpt, tables.best[0].strategy), 3).equal());
  space.schedules = {"mine"};
  EXPECT_THROW(search_program(gpt, cluster, space), poplar::poplar_error);
}

// Stages of one and of two layers: the schedule is made for what they cost, and its name says so.
TEST(ProgramSearch, SchedulesAreMadeForWhatStagesCost) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  const transform::Program gpt = small_gpt();
  Space space{.devices = 2, .require = "pipeline=2 microbatches=4 recompute=none", .most_microbatches = 4};
  space.schedules = {"1F1B", "ZB-H1", "synthesised"};
  const ProgramResult all = search_program(gpt, cluster, space, {.top = 500, .brute_force = true});
  std::set<std::string> made;
  for (const FoundProgram& f : all.best) {
    if (!schedule::is_synthesised(f.strategy.schedule)) continue;
    EXPECT_TRUE(schedule::has_costs(f.strategy.schedule)) << f.strategy.schedule;
    EXPECT_EQ(to_string(parse_strategy(to_string(f.strategy, Spelling::whole), Spelling::whole, {.first_device = 0}), Spelling::whole),
              to_string(f.strategy, Spelling::whole));
    if (made.insert(f.strategy.schedule).second && made.size() <= 4)
      EXPECT_TRUE(compare(gpt, transform::parallelise(gpt, f.strategy), 3).equal()) << to_string(f.strategy, Spelling::whole);
  }
  EXPECT_GT(made.size(), 2u);
  EXPECT_EQ(search_program(gpt, cluster, space).best[0].index, all.best[0].index);
}

// A rank with an embedding has less room for activations than the others: they may hold more.
TEST(ProgramSearch, SchedulesAreMadeForWhatRanksHaveRoomFor) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  models::Gpt g;
  g.layers = 6, g.width = 32, g.heads = 4, g.sequence = 32, g.batch = 16, g.vocabulary = 512;
  const transform::Program gpt = models::build_gpt(g);
  Space space{.devices = 4, .require = "pipeline=4 microbatches=8 recompute=none layers=3/2/2/1", .most_microbatches = 8};
  space.schedules = {"synthesised"};
  const ProgramResult all = search_program(gpt, cluster, space, {.top = 500, .brute_force = true});
  std::set<std::string> names, levelled;
  for (const FoundProgram& f : all.best) {
    EXPECT_TRUE(names.insert(to_string(f.strategy, Spelling::whole)).second) << "twice: " << to_string(f.strategy, Spelling::whole);
    const auto limits = schedule::problem_of(f.strategy.schedule, {4, 8, f.strategy.stages_per_rank}).memory;
    if (limits.size() == 1) continue;
    ASSERT_EQ(limits.size(), 4u);
    EXPECT_LT(*std::min_element(limits.begin(), limits.end()), *std::max_element(limits.begin(), limits.end()));
    if (levelled.insert(f.strategy.schedule).second && levelled.size() <= 4)
      EXPECT_TRUE(compare(gpt, transform::parallelise(gpt, f.strategy), 3).equal()) << to_string(f.strategy, Spelling::whole);
  }
  EXPECT_GE(levelled.size(), 2u);
  EXPECT_EQ(search_program(gpt, cluster, space).best[0].index, all.best[0].index);
}

// Where messages take long, schedules that know it are tried, too; here they are better.
TEST(ProgramSearch, SchedulesAreMadeForWhatTransfersCost) {
  simulate::Cluster cluster = simulate::cluster_named("bow-pod");
  cluster.levels.resize(1);
  cluster.levels[0].latency = 4e-5;
  cluster.levels[0].bytes_per_second = 1e12;
  cluster.levels[0].slowdown = 0;
  const transform::Program gpt = small_gpt();
  Space space{.devices = 4, .require = "pipeline=4 microbatches=8 recompute=none", .most_microbatches = 8};
  space.schedules = {"synthesised"};
  const ProgramResult all = search_program(gpt, cluster, space, {.top = 500, .brute_force = true});
  double with = 1e30, without = 1e30;
  std::set<std::string> names;
  for (const FoundProgram& f : all.best) {
    const std::string& name = f.strategy.schedule;
    const bool knows = schedule::problem_of(name, {4, 8, f.strategy.stages_per_rank}).costs.transfer > 0;
    (knows ? with : without) = std::min(knows ? with : without, f.estimate.seconds);
    EXPECT_TRUE(names.insert(to_string(f.strategy, Spelling::whole)).second) << "twice: " << to_string(f.strategy, Spelling::whole);
  }
  EXPECT_LT(with, 0.99 * without) << to_table(all);
  EXPECT_EQ(search_program(gpt, cluster, space).best[0].index, all.best[0].index);
  EXPECT_TRUE(compare(gpt, transform::parallelise(gpt, all.best[0].strategy), 3).equal());
  // Messages for nothing: what they cost is no axis.
  cluster.levels[0].latency = 0;
  cluster.levels[0].bytes_per_second = 1e18;
  const ProgramResult quick = search_program(gpt, cluster, space, {.top = 1});
  EXPECT_EQ(2 * quick.certificate.points, all.certificate.points);
}

// Two nodes of two devices: what transfers most is in a node.
TEST(ProgramSearch, DevicesArePlacedOnTheNetwork) {
  simulate::Cluster cluster = simulate::cluster_named("bow-pod");
  ASSERT_GT(cluster.levels.size(), 0u);
  cluster.levels.resize(1);
  cluster.levels.push_back(cluster.levels[0]);
  cluster.levels[0].devices = 2, cluster.levels[1].devices = 4;
  cluster.levels[1].bytes_per_second /= 100;
  const transform::Program gpt = small_gpt();
  const Space space{.devices = 4, .require = "tensor=2 pipeline=2 microbatches=2", .most_microbatches = 4};
  const ProgramResult r = search_program(gpt, cluster, space);
  ASSERT_FALSE(r.best.empty());
  EXPECT_THAT(to_string(r.best[0].strategy, Spelling::whole), HasSubstr("order=pipeline/tensor")) << to_table(r);
  Strategy as_numbered = r.best[0].strategy;
  as_numbered.order.clear();
  EXPECT_LT(1.2 * r.best[0].estimate.seconds, estimate_program(gpt, as_numbered, cluster).seconds);
  EXPECT_EQ(r.best[0].index, search_program(gpt, cluster, space, {.brute_force = true}).best[0].index);
  EXPECT_TRUE(compare(gpt, transform::parallelise(gpt, r.best[0].strategy), 3).equal());
}

TEST(ProgramSearch, NoEstimateIsBelowItsBound) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  const simulate::ClusterCostModel costs(cluster);
  const transform::Program gpt = small_gpt();
  for (const char* words :
       {"data=4", "tensor=4", "tensor=2 data=2 sequence-parallel zero=1", "pipeline=4 microbatches=4",
        "pipeline=2 data=2 microbatches=4 recompute=full", "microbatches=2 recompute=full", "recompute=selective tensor=2",
        "pipeline=2 microbatches=4 schedule=ZB-H1 recompute=full recompute-layers=1/2", "pipeline=4 microbatches=8 schedule=ZB-H1",
        "pipeline=2 microbatches=4 schedule=ZBV stages-per-rank=2", "pipeline=2 microbatches=8 schedule=V-1F1B stages-per-rank=2",
        "pipeline=2 microbatches=4 schedule=synthesised:3:100-60:90:40-100", "pipeline=5 microbatches=2 layers=1/1/1/1/1",
        "pipeline=2 stages-per-rank=2 schedule=Interleaved1F1B microbatches=4 data=2", "context=2 data=2"}) {
    const Strategy s = parse_strategy(words, Spelling::whole, {.first_device = 0});
    const double least = least_program_seconds(gpt, s, costs), seconds = estimate_program(gpt, s, cluster).seconds;
    EXPECT_GT(least, 0.05 * seconds) << words;
    EXPECT_LE(least, seconds) << words;
  }
}

// Every winner runs, and does what the sequential program does.
TEST(ProgramSearch, TheWinnerIsAProgram) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  models::Gpt g;
  g.layers = 3;
  g.optimizer.kind = models::Optimizer::adam;
  const transform::Program gpt = models::build_gpt(g);
  for (const char* demand :
       {"", "tensor=2", "pipeline=2 microbatches=2", "pipeline=4", "zero=2 data=4", "recompute=full pipeline=2", "context=2"}) {
    const ProgramResult r = search_program(gpt, cluster, {.devices = 4, .require = demand, .most_microbatches = 4});
    ASSERT_FALSE(r.best.empty()) << demand;
    const transform::Distributed d = transform::parallelise(gpt, r.best[0].strategy);
    EXPECT_EQ(ir::print(ir::parse(ir::print(d.module))), ir::print(d.module));
    const transform::Equality e = compare(gpt, d, 7);
    EXPECT_TRUE(e.equal()) << demand << ": " << to_text(e);
    EXPECT_GT(e.tensors, 10);
  }
}

// The comparison finds what is wrong.
TEST(ProgramSearch, AnotherProgramIsNotEqual) {
  const transform::Program a = models::build_mlp({.layers = 2, .width = 4, .batch = 4, .learning_rate = 0.5}),
                           b = models::build_mlp({.layers = 2, .width = 4, .batch = 4, .learning_rate = 0.25});
  EXPECT_TRUE(compare(a, transform::parallelise(a, {.data = 2}), 1).equal());
  const transform::Equality e = compare(a, transform::parallelise(b, {.data = 2}), 1);
  EXPECT_FALSE(e.equal());
  EXPECT_THAT(to_text(e), HasSubstr("NOT equal"));
}

TEST(ProgramSearch, WhyNot) {
  const auto& cluster = simulate::cluster_named("bow-pod");
  const transform::Program gpt = small_gpt();
  Space space{.devices = 4};
  const ProgramResult r = search_program(gpt, cluster, space);
  const auto why = [&](const char* words) {
    return why_not(gpt, cluster, space, parse_strategy(words, Spelling::whole, {.first_device = 0}), r);
  };
  // What is not there is said before the number of devices; other rules are not.
  EXPECT_THAT(why("recompute=full recompute-layers=99"), HasSubstr("layer 99 is to be recomputed"));
  EXPECT_THAT(why("data=3"), HasSubstr("devices: it takes 3 devices, 4 were asked for"));
  EXPECT_THAT(why("data=2"), HasSubstr("devices: it takes 2 devices, 4 were asked for"));
  EXPECT_THAT(why("tensor=2 context=2 microbatches=3"), HasSubstr("degree-does-not-divide"));
  EXPECT_THAT(why("pipeline=4 layers=9/1/1/1"), HasSubstr("layers-per-stage"));
  EXPECT_THAT(why("pipeline=4 schedule=ZBV"), HasSubstr("schedule"));
  EXPECT_THAT(why("pipeline=4 layers=1/1/1/2"), HasSubstr("slower than the best"));
  EXPECT_EQ(why(to_string(r.best[0].strategy, Spelling::whole).c_str()), "it is the best\n");
  space.memory = 1000;
  EXPECT_THAT(why("data=4"), HasSubstr("more than the 1000 that it has"));
  const ProgramResult none = search_program(gpt, cluster, space);
  EXPECT_TRUE(none.best.empty());
  EXPECT_EQ(none.certificate.too_large, none.certificate.evaluated);
  EXPECT_EQ(none.certificate.evaluated, 0);
  EXPECT_EQ(none.certificate.by_memory + none.certificate.by_rule, none.certificate.points);
  EXPECT_THAT(to_table(none), HasSubstr("nothing fits"));
}

// The head and the loss weigh as much as several blocks: their stage has fewer layers.
TEST(ProgramSearch, StagesAreUneven) {
  models::Gpt g;
  g.layers = 6;
  g.width = 64;
  g.heads = 4;
  g.sequence = 32;
  g.batch = 8;
  g.vocabulary = 8192;
  const transform::Program gpt = models::build_gpt(g);
  simulate::Cluster cluster = simulate::cluster_named("bow-pod");
  cluster.launch = 0;
  cluster.matmul_efficiency = cluster.memory_efficiency = {};
  for (simulate::NetworkLevel& l : cluster.levels) l.latency = 0, l.slowdown = 0, l.bytes_per_second = 1e13;
  const ProgramResult r = search_program(gpt, cluster, {.devices = 2, .require = "pipeline=2 schedule=1F1B microbatches=4"});
  ASSERT_FALSE(r.best.empty());
  const auto& layers = r.best[0].strategy.layers_per_stage;
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_GT(layers[0], layers[1]) << to_table(r);
  EXPECT_EQ(layers[0] + layers[1], 8u);
  const double even = estimate_program(gpt, parse_strategy("layers=4/4", Spelling::whole, r.best[0].strategy), cluster).seconds;
  EXPECT_LT(r.best[0].estimate.seconds, 0.95 * even) << to_table(r);
}

TEST(ProgramSearch, PointsOfTransformersBecomePrograms) {
  const auto& selene = simulate::cluster_named("selene");
  Transformer t = transformer_named("gpt2");
  t.layers = 4, t.hidden = 64, t.heads = 4, t.ffn = 256, t.seq = 16, t.vocab = 128;
  Space space{.devices = 8, .batch = 16};
  space.runnable = true;
  space.reach = Reach::everything;
  const Result r = search(t, selene, space, {.top = 30});
  ASSERT_EQ(r.best.size(), 30u);
  const transform::Program gpt = program_of(t, 16);
  const StrategyFacts facts = facts_of(t, selene, 16);
  for (const Found& f : r.best) {
    const Strategy s = transforms_of(facts, f.strategy);
    EXPECT_GT(estimate_program(gpt, s, selene).seconds, 0)
        << to_string(f.strategy, Spelling::brief) << " / " << to_string(s, Spelling::whole);
    EXPECT_THAT(missing_of(f.strategy), testing::IsEmpty()) << to_string(f.strategy, Spelling::brief);
  }
  // What only a prediction has is said with the winner.
  const Result predicted{.best = {Found{parse_strategy("t=2 overlap=ring precision=fp8", Spelling::brief), {}, 0}}};
  EXPECT_THAT(to_table(predicted),
              HasSubstr("no transform does this: products in 8-bit floats; tensor-parallel transfers beside products\n"));
  EXPECT_THAT(to_table(r), testing::Not(HasSubstr("no transform does this")));
  for (const char* words : {"t=2 overlap=ring", "d=2 data-overlap", "d=3 c=2 e=2"}) {
    const Strategy s = parse_strategy(words, Spelling::brief);
    EXPECT_THROW(transforms_of(facts, s), poplar::poplar_error) << words;
    EXPECT_THROW(transform::parallelise(gpt, s), ModelError) << words;
  }
  EXPECT_THROW(program_of(transformer_named("llama3-8b"), 16), poplar::poplar_error);
  // Layers that are computed again, by the numbers that they have in the program: the embedding is 0.
  const auto peak = [&](const std::string& words) {
    return estimate_program(gpt, transforms_of(facts, parse_strategy("t=2 p=2 d=2 b=2 " + words, Spelling::brief)), selene).peak;
  };
  EXPECT_EQ(transforms_of(facts, parse_strategy("t=2 p=2 d=2 recompute=full recompute-first=1", Spelling::brief)).recomputed_layers,
            (std::vector<std::uint32_t>{1, 3}));
  EXPECT_LT(peak("recompute=full"), peak("recompute=full recompute-first=1"));
  EXPECT_LT(peak("recompute=full recompute-first=1"), peak(""));
}

// A program is measured before it is made: what it may not be larger than is asked of that.
TEST(ProgramSize, AsThePrograms) {
  const Transformer gpt = transformer_named("gpt2");
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  for (const char* words : {"t=1 d=8 b=2 zero=3", "t=2 p=2 d=2 zero=1", "t=1 p=2 d=2 v=3 zero=1 recompute=full"}) {
    const StrategyFacts facts = facts_of(gpt, h100, 64);
    const transform::Program whole = program_of(gpt, 64);
    const Strategy s = transforms_of(facts, parse_strategy(words, Spelling::brief));
    const ir::Module made = transform::parallelise(whole, s).module;
    const ProgramSize size = size_of_program(whole, s);
    EXPECT_NEAR(size.ops / static_cast<double>(made.op_count()), 1, 0.25) << words;
    EXPECT_NEAR(size.text / static_cast<double>(ir::print(made).size()), 1, 0.35) << words;
    // At least an op, an operand and a result; many share names and attributes.
    EXPECT_GT(size.module / size.ops, sizeof(ir::Op) + sizeof(ir::Value)) << words;
    EXPECT_LT(size.module / size.ops, 2 * (sizeof(ir::Op) + sizeof(ir::Value))) << words;
    EXPECT_GT(size.data, 0) << words;
    EXPECT_NO_THROW(check_can_be_written(whole, s, "torch"));
  }
}

TEST(ProgramSize, WhatIsWritten) {
  const ProgramSize size{.ops = 10, .module = 1000, .text = 300, .data = 50};
  EXPECT_EQ(bytes_to_write(size, false), 2000 + 50 + 600);
  EXPECT_EQ(bytes_to_write(size, true), 10000 + 100);
}

TEST(ProgramSize, FreeMemory) {
  const std::uint64_t without = free_memory("");
  EXPECT_GT(without, 0U);
  EXPECT_LT(without, host_memory());
  EXPECT_EQ(free_memory("MemTotal:  8000 kB\nMemAvailable:      2000 kB\n"), 2000U * 1024);
  // A line that is none says nothing; more than the process may have is not free.
  EXPECT_NEAR(static_cast<double>(free_memory("MemAvailable: kB\n")), static_cast<double>(without), 1e8);
  EXPECT_NEAR(static_cast<double>(free_memory("MemAvailable: 99999999999999 kB\n")), static_cast<double>(without), 1e8);
}

}  // namespace
}  // namespace pando::search
