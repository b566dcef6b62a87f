// Strategies in trainers' words, and back.
#include "search/settings/emit_settings.h"

#include "search/axis.h"
#include "search/search.h"
#include "search/shapes.h"
#include "search/stack.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

namespace pando::search {
namespace {

using testing::HasSubstr;

struct Case {
  Case(const std::string& name, const std::string& machine = "h100")
      : model(transformer_named(name)), cluster(simulate::cluster_named(machine)), facts(facts_of(model, cluster)) {}
  Transformer model;
  const simulate::Cluster& cluster;
  StrategyFacts facts;
  std::string text(const char* target, const std::string& words, std::int64_t batch) const { return settings(target, words, batch).text; }
  Settings settings(const char* target, const std::string& words, std::int64_t batch) const {
    return find_emit_target(target)->settings(facts_of(model, cluster, batch), parse_strategy(words, Spelling::brief));
  }
};

// PANDO_SEED=n tries other strategies.
std::mt19937 random_of(std::uint32_t test) {
  const char* const given = std::getenv("PANDO_SEED");
  const auto seed = static_cast<std::uint32_t>(std::stoul(given != nullptr ? given : "1"));
  fmt::print("PANDO_SEED={}\n", seed);
  return std::mt19937(seed * 1000 + test);
}

TEST(Emit, MegatronSaysTheStrategy) {
  const Case c("llama3-8b");
  const std::string text =
      c.text("megatron", "t=2 p=4 d=8 b=2 v=2 zero=1 comm=sequence-parallel regather recompute=selective data-overlap", 256);
  for (const char* flag :
       {"--num-layers 32 ", "--group-query-attention --num-query-groups 8", "--swiglu", "--untie-embeddings-and-output-weights",
        "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --micro-batch-size 2 --global-batch-size 256",
        "--sequence-parallel", "--num-virtual-stages-per-pipeline-rank 2", "--use-distributed-optimizer --overlap-grad-reduce",
        "--recompute-granularity selective --recompute-modules core_attn", "# data parallelism is what 64 devices leave: 8"})
    EXPECT_THAT(text, HasSubstr(flag));
  EXPECT_THAT(text, testing::Not(HasSubstr("not said")));
  // Stages of different sizes are a layout, in the order of the model.
  EXPECT_THAT(c.text("megatron", "p=5 d=2", 64), HasSubstr("--pipeline-model-parallel-layout \"Et*6|t*6|t*7|t*7|t*6L\""));
  // What it has no flag for is said.
  const std::string unsaid = c.text("megatron", "p=4 d=2 schedule=ZB-H1 post-validation", 64);
  EXPECT_THAT(unsaid, HasSubstr("# not said: schedule=ZB-H1; 1F1B runs instead"));
  EXPECT_THAT(unsaid, HasSubstr("# not said: post-validation"));
  const std::string experts = Case("deepseek-v3").text("megatron", "p=16 d=8 e=8 zero=1", 64);
  EXPECT_THAT(experts, HasSubstr("--multi-latent-attention --kv-lora-rank 512"));
  EXPECT_THAT(experts, HasSubstr("--moe-layer-freq ([0]*3+[1]*58)"));
  EXPECT_THAT(experts, HasSubstr("--expert-model-parallel-size 8"));
}

// Whatever Megatron-LM has words for comes back as it went.
TEST(Emit, MegatronIsReadBack) {
  std::mt19937 random = random_of(7);
  int compared = 0;
  for (const char* name : {"llama3-8b", "gpt3-175b", "mixtral-8x7b"}) {
    const Case c(name);
    const StrategyFacts facts = facts_of(c.model, c.cluster, 240 * 8);
    const simulate::Cluster megatron = with_stack(c.cluster, stack_named("megatron"));
    for (int i = 0; i < 400; ++i) {
      const auto pick = [&](std::initializer_list<std::int64_t> all) {
        return *(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
      };
      Strategy s;
      s.tensor = pick({1, 2, 4, 8}), s.pipeline = pick({1, 2, 3, 4, 5}), s.data = pick({1, 2, 8}), s.context = pick({1, 1, 2});
      s.expert_in_data = pick({1, 1, 2}), s.microbatch = pick({1, 2}), s.stages_per_rank = pick({1, 1, 2, 4});
      s.zero = pick({0, 1, 2, 3}), s.data_overlap = pick({0, 1}) != 0 && replicas_of(s) > 1;
      s.recompute = static_cast<Recompute>(pick({0, 1, 2})), s.recompute_first = s.recompute == Recompute::full ? pick({0, 0, 2}) : 0;
      if (s.tensor > 1 && pick({0, 1}) == 1) s.sequence_parallel = true, s.regather = !recomputes_all(s);
      if (s.tensor > 1 && pick({0, 1}) == 1) s.tensor_overlap = TensorOverlap::ring;
      s.weighed = pick({0, 1}) == 1;
      s.precision = pick({0, 1}) == 1 ? Precision::fp8 : Precision::bf16;
      s.offload_optimizer = pick({0, 0, 1}) == 1;
      if (first_violation(facts, s)) continue;
      const auto [text, unsaid, runs] = find_emit_target("megatron")->settings(facts, s);
      if (s.sequence_parallel || s.tensor_overlap == TensorOverlap::none) {
        EXPECT_EQ(unsaid.size(), (s.expert_in_data > 1 && s.tensor > 1 && !s.sequence_parallel ? recomputes_all(s) ? 1U : 2U : 0U) +
                                     (s.offload_optimizer && s.zero == 0 && replicas_of(s) > 1 ? 1U : 0U))
            << text;
      }
      const ReadSettings r = find_emit_target("megatron")->read(text, c.facts, s.devices(), 0, "flags");
      EXPECT_EQ(to_string(r.strategy, Spelling::brief), to_string(runs, Spelling::brief)) << text;
      EXPECT_EQ(r.batch, facts.batch);
      EXPECT_EQ(r.seq, c.model.seq);
      EXPECT_THAT(r.notes, testing::IsEmpty()) << text;
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

// Axis by axis: what a target does not say, it names; what comes back is what it says that runs.
TEST(Emit, EveryLossIsNamed) {
  std::mt19937 random = random_of(11);
  std::map<std::string_view, std::set<std::string_view>> lost;
  for (const char* name : {"llama3-8b", "gpt3-13b", "mixtral-8x7b"}) {
    const Case c(name, "b200");
    simulate::Cluster cluster = c.cluster;
    cluster.far_bytes = std::int64_t{1} << 40, cluster.far_bytes_per_second = 5e10;
    const StrategyFacts facts = facts_of(c.model, cluster, 240 * 8);
    for (int i = 0; i < 3000; ++i) {
      const auto pick = [&](std::initializer_list<std::int64_t> all) {
        return *(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
      };
      Strategy s;
      for (const Axis* a : predicted_axes()) {
        const std::int64_t values = a->flag ? 2 : static_cast<std::int64_t>(a->names.size());
        if (values > 0 && pick({0, 1}) == 1) a->set(s, static_cast<std::int64_t>(random()) % values);
      }
      s.tensor = pick({1, 2, 4}), s.pipeline = pick({1, 1, 2, 3, 4}), s.data = pick({1, 2, 8}), s.context = pick({1, 1, 2});
      s.expert_in_data = pick({1, 2}), s.microbatch = pick({1, 2}), s.stages_per_rank = pick({1, 1, 2});
      s.zero = pick({0, 1, 2, 3}), s.recompute_first = pick({0, 0, 2});
      if (first_violation(facts, s)) continue;
      for (const EmitTarget& target : emit_targets()) {
        if (target.settings == nullptr) continue;
        const Settings settings = target.settings(facts, s);
        const auto names = [&](const Axis& a) {
          return std::ranges::any_of(settings.unsaid, [&](const std::string& what) {
            const std::string word(a.word_in(Spelling::brief));
            const std::string padded = " " + what;
            return padded.find(" " + word + "=") != std::string::npos || padded.find(" " + word + ";") != std::string::npos ||
                   padded.find(word + " ") != std::string::npos || padded.find("(" + word + ")") != std::string::npos;
          });
        };
        const std::string all = fmt::format("{}: {}\n{}", target.name, to_string(s, Spelling::brief), settings.text);
        for (const std::string& what : settings.unsaid) EXPECT_THAT(settings.text, HasSubstr("not said: " + what));
        ReadSettings r;
        // Layers that differ have no words; nor do positions that DeepSpeed's program splits.
        const bool differs =
            (target.name == "galvatron" && settings.runs.recompute_first > 0) || (target.name == "deepspeed" && s.context > 1);
        if (!differs) r = target.read(settings.text, facts, s.devices(), 0, "settings");
        for (const Axis* a : predicted_axes()) {
          // What is gathered again follows from what joins the parts.
          const bool is_named = names(*a) || (a->word == "regather" && names(*axes_named("comm", Spelling::brief)[0]));
          if (a->get(settings.runs) != a->get(s)) {
            EXPECT_TRUE(is_named || a->word == "data" || a->word == "microbatch") << a->word << "\n" << all;
            lost[target.name].insert(a->word);
          }
          // Layers that were weighed by what is unsaid: the file has them, no word does.
          const bool has_no_word = a->word == "weighed" && testing::Matches(testing::Contains(HasSubstr("is assumed")))(r.notes);
          if (!differs && !is_named && !has_no_word) EXPECT_EQ(a->get(r.strategy), a->get(settings.runs)) << a->word << "\n" << all;
        }
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_THAT(lost["deepspeed"], testing::IsSupersetOf({"precision", "overlap", "schedule", "sequence-parallel", "offload-weights"}));
  EXPECT_THAT(lost["galvatron"], testing::IsSupersetOf({"precision", "overlap", "context", "expert", "zero"}));
  EXPECT_THAT(lost["megatron"], testing::IsSupersetOf({"schedule", "overlap", "offload-activations", "post-validation"}));
  EXPECT_THAT(lost["torchtitan"], testing::IsSupersetOf({"zero", "regather", "recompute", "recompute-first"}));
}

TEST(Emit, WarningsSayWhatRunsInstead) {
  const Case c("llama3-8b", "h200");
  const StrategyFacts facts = facts_of(c.model, c.cluster, 512);
  const auto warnings = [&](const char* target, const std::string& words, double limit) {
    const Strategy s = parse_strategy(words, Spelling::brief);
    const EmitTarget& t = *find_emit_target(target);
    return warnings_of(facts, t, s, t.settings(facts, s), limit);
  };
  EXPECT_THAT(warnings("deepspeed", "d=64 b=2 zero=2 data-overlap", 1e12), testing::IsEmpty());
  EXPECT_THAT(
      warnings("deepspeed", "d=64 b=2 zero=2 precision=fp8 data-overlap", 1e12),
      testing::ElementsAre("settings for deepspeed do not say precision=fp8; products run in bf16",
                           testing::MatchesRegex("what they say is t=1 p=1 d=64 b=2 zero=2 data-overlap: by prediction [0-9.]+ s a step, "
                                                 "not [0-9.]+, and [0-9.]+ GiB a device, not [0-9.]+; --require 'precision=bf16' "
                                                 "searches among what can be said")));
  EXPECT_THAT(warnings("torchtitan", "d=64 b=2 zero=1 recompute=selective data-overlap", 1e9).back(),
              HasSubstr("which does not fit into 0.93"));
  // What the program does is said, and changes nothing.
  EXPECT_THAT(warnings("deepspeed", "p=4 d=16", 1e12),
              testing::ElementsAre("settings for deepspeed do not say p=4; the program builds PipelineModule(layers, num_stages=4)"));
}

TEST(Emit, OthersAreReadBack) {
  const Case c("llama3-8b");
  for (const auto& [target, words] : {std::pair{"torchtitan", "t=2 p=4 d=8 b=2 zero=2 comm=sequence-parallel recompute=full data-overlap"},
                                      {"torchtitan", "t=1 d=64 b=2 zero=3 data-overlap recompute=alternate"},
                                      {"torchtitan", "p=4 d=16 schedule=ZBV data-overlap"},
                                      {"torchtitan", "p=4 d=16 v=4 zero=2 precision=fp8 data-overlap"},
                                      {"torchtitan", "p=5 d=8 weighed zero=3 data-overlap"},
                                      {"torchtitan", "d=64 zero=3 offload-weights offload-optimizer data-overlap"},
                                      {"deepspeed", "d=64 b=2 zero=3 data-overlap"},
                                      {"deepspeed", "t=8 d=8 b=4 zero=1 offload-optimizer"},
                                      {"galvatron", "t=2 p=4 d=8 b=2 comm=sequence-parallel zero=3 recompute=full"},
                                      {"galvatron", "p=3 d=8 b=1 zero=2"}}) {
    const Strategy s = parse_strategy(words, Spelling::brief);
    const std::string settings = c.text(target, words, 1536);
    const ReadSettings r = find_emit_target(target)->read(settings, c.facts, s.devices(), 0, "settings");
    EXPECT_EQ(to_string(r.strategy, Spelling::brief), to_string(s, Spelling::brief)) << target << "\n" << settings;
    EXPECT_EQ(r.batch, 1536);
  }
}

// Megatron-FSDP alone reads what it shards; the distributed optimizer beside it follows that.
TEST(Emit, ShardingOfMegatron) {
  const Case c("llama3-8b");
  const auto read = [&](const std::string& flags) {
    return settings_of("--global-batch-size 64 --pipeline-model-parallel-size 2 " + flags, c.facts, 16, 0);
  };
  EXPECT_EQ(read("--use-distributed-optimizer").strategy.zero, 1);
  const ReadSettings sharded = read("--use-distributed-optimizer --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads");
  EXPECT_EQ(sharded.strategy.zero, 2);
  EXPECT_THAT(sharded.notes, testing::IsEmpty());
  const ReadSettings unsharded = read("--use-distributed-optimizer --use-megatron-fsdp");
  EXPECT_EQ(unsharded.strategy.zero, 0);
  EXPECT_THAT(unsharded.notes, testing::ElementsAre(HasSubstr("nothing is sharded (no_shard)")));
  const ReadSettings ignored = read("--use-distributed-optimizer --data-parallel-sharding-strategy optim_grads_params");
  EXPECT_EQ(ignored.strategy.zero, 1);
  EXPECT_THAT(ignored.notes, testing::ElementsAre(HasSubstr("without --use-megatron-fsdp it changes nothing; this is zero=1")));
  // Beside a pipeline, what Megatron-LM does is a comment.
  const std::string text = c.text("megatron", "t=2 p=2 d=4 zero=3", 64);
  for (const char* line : {"# Megatron-FSDP shards: CUDA_DEVICE_MAX_CONNECTIONS has to be unset or over 1",
                           "# before Blackwell, Megatron-LM advises against Megatron-FSDP beside tensor or context parallelism",
                           "# Megatron-LM takes zero=3 beside a pipeline; the tests that it comes with have one stage"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(c.text("megatron", "t=2 p=2 d=4 zero=1", 64), testing::Not(HasSubstr("Megatron-FSDP")));
}

TEST(Emit, LayoutsOfMegatron) {
  const Case c("llama3-8b");
  const auto read = [&](const std::string& flags, std::int64_t devices = 8) {
    return settings_of("--global-batch-size 64 " + flags, c.facts, devices, 0);
  };
  EXPECT_EQ(read("--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout \"E(t|)*7(t*3|)*8tL\"").strategy.stages_per_rank, 4);
  EXPECT_EQ(
      to_string(read("--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout Et*8|(t*8|)*2,t*8L").strategy, Spelling::brief),
      "t=1 p=4 d=2 b=1");
  EXPECT_THAT(read("--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout Et*2|t*10|t*10|t*10L").notes,
              testing::ElementsAre(HasSubstr("no word for stages of 2, 10, 10, 10 layers")));
  EXPECT_EQ(
      to_string(
          read("--pipeline-model-parallel-size 5 --decoder-first-pipeline-num-layers 6 --decoder-last-pipeline-num-layers 5", 5).strategy,
          Spelling::brief),
      "t=1 p=5 d=1 b=1");
}

TEST(Emit, WhatCannotBeIsRejected) {
  const Case c("llama3-8b");
  const auto rejects = [&](const std::string& text, const std::string& message, std::int64_t devices = 8, std::int64_t batch = 64) {
    try {
      settings_of(text, c.facts, devices, batch);
      ADD_FAILURE() << text;
    } catch (const poplar::poplar_error& e) { EXPECT_THAT(e.what(), HasSubstr(message)) << text; }
  };
  rejects("--tensor-model-parallel 8", "--tensor-model-parallel is not understood, and changes how a step is distributed");
  rejects("--tensor-model-parallel-size 2 --outer-dp-sharding-strategy optim", "--outer-dp-sharding-strategy is not understood");
  rejects("--lr 0.1", "no flag of Megatron-LM is in it");
  rejects("--tensor-model-parallel-size eight", "--tensor-model-parallel-size eight: a whole number from 1 is expected");
  rejects("--tensor-model-parallel-size 3", "8 devices are not a multiple of 3 x 1 x 1");
  rejects("--tensor-model-parallel-size 2", "flags do not say how many devices there are; say --devices", 0);
  rejects("--tensor-model-parallel-size 2", "there is no --global-batch-size; say --batch", 8, 0);
  rejects("--recompute-granularity some", "--recompute-granularity some: it is full or selective");
  rejects("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Ettx|tL", "has 'x'; understood are E, t, L");
  rejects("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Ett|tL", "has 3 layers; the model has 32");
  rejects("--data-parallel-sharding-strategy most", "it is one of no_shard, optim, optim_grads, optim_grads_params");
  const auto rejects_json = [&](const char* target, const std::string& text, const std::string& message, std::int64_t devices = 8) {
    try {
      find_emit_target(target)->read(text, c.facts, devices, 0, "ds.json");
      ADD_FAILURE() << text;
    } catch (const poplar::poplar_error& e) { EXPECT_THAT(e.what(), HasSubstr(message)) << text; }
  };
  rejects_json("deepspeed", "[1", "it is not an object of JSON");
  rejects_json("deepspeed", R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 3})",
               "train_batch_size 64 is not 2 x 3 x 8 devices");
  rejects_json("deepspeed", R"({"zero_optimization": {"stage": 4}, "train_batch_size": 8})", "stage is 4; it is 0 to 3");
  rejects_json("deepspeed", R"({"model_type": "llama", "hidden_size": 4096})", "it is not a configuration of DeepSpeed");
  rejects_json("deepspeed", R"({"zero_optimization": true})", "zero_optimization is true; an object of JSON is expected");
  rejects_json("deepspeed", R"({"zero_optimization": {"overlap_comm": 1}})", "overlap_comm is 1; true or false is expected");
  rejects_json("deepspeed", R"({"activation_checkpointing": [], "train_batch_size": 8})", "activation_checkpointing is []; an object");
  rejects_json("galvatron", R"({"pp_deg": 1, "tp_sizes_enc": "1,2", "global_bsz": 8})", "tp_sizes_enc differs from layer to layer");
  rejects_json("galvatron", R"({"pp_deg": 1, "tp_sizes_enc": "1,1", "global_bsz": 8})", "tp_sizes_enc has 2 layers; the model has 32");
  rejects_json("galvatron", R"({"pp_deg": 1, "tp_sizes_enc": 1, "global_bsz": 8, "dp_types_enc": 7})", "dp_types_enc has 7; 0 or 1");
  rejects_json("galvatron", R"({"pp_deg": 1, "tp_sizes_enc": 1, "global_bsz": 8, "checkpoint": 2})", "checkpoint has 2; 0 or 1");
  rejects_json("galvatron", R"({"pp_deg": 1, "tp_sizes_enc": 1, "global_bsz": 8, "default_dp_type": 4})",
               "default_dp_type is 4; it is one of ddp, zero2, zero3");
  rejects_json("galvatron", "{}", "it is not a strategy of Galvatron");
  const std::string parts = "config.parallelism.pipeline_parallel_degree = 2\nconfig.parallelism.module_fqns_per_model_part = ";
  rejects_json("torchtitan", parts + "[[\"layers.0\"], [\"layers.1\"]]\n", "has 2 layers; the model has 32");
  rejects_json("torchtitan", parts + "[[\"layers.0\"], [\"layers.1\"], []]\n", "has 3 parts; 2 ranks have as many each");
  rejects_json("torchtitan", "x\n", "no assignment such as config.parallelism.tensor_parallel_degree");
}

}  // namespace
}  // namespace pando::search
