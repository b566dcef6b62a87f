// Published configurations: sizes as their publishers count them, and what is not understood.
#include "search/models/model_config.h"
#include "base/testing/places.h"
#include "search/rank_memory.h"
#include "search/strategy.h"
#include "simulate/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <fstream>

namespace pando::search {
namespace {

const std::string kFolder = source_path("tests/data/models/");

nlohmann::json config_of(const std::string& name) {
  std::ifstream in(kFolder + name + ".json");
  return nlohmann::json::parse(in);
}

TEST(ModelConfig, ParametersAreThePublished) {
  const auto csv = simulate::Csv::read_file(kFolder + "parameters.csv");
  ASSERT_GE(csv.rows(), 26u);
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const std::string& name = csv.text(i, "config");
    const Transformer t = transformer_named(kFolder + name + ".json", 1024);
    const double published = csv.number(i, "parameters");
    EXPECT_NEAR(t.parameters() / published, 1, csv.integer(i, "rounded") != 0 ? 2.5e-3 : 1.5e-3) << name;
    // Norms and biases are left out.
    if (csv.integer(i, "rounded") == 0) EXPECT_LE(t.parameters(), published) << name;
    // A step of it can be estimated.
    Strategy s;
    s.data = 4;
    const StrategyFacts facts = facts_of(t, simulate::cluster_named("h100"), 4);
    EXPECT_FALSE(first_violation(facts, s)) << name;
    EXPECT_GT(estimate(facts, s).seconds, 0) << name;
  }
}

TEST(ModelConfig, IsTheModelByName) {
  const Transformer file = transformer_named(kFolder + "llama3_8b.json", 8192), named = transformer_named("llama3-8b");
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  const Strategy s = parse_strategy("t=2 p=2 d=4 zero=1", Spelling::brief);
  const Estimate of_file = estimate(facts_of(file, h100, 64), s), of_name = estimate(facts_of(named, h100, 64), s);
  EXPECT_EQ(of_file.seconds, of_name.seconds);
  EXPECT_EQ(of_file.memory, of_name.memory);
  EXPECT_EQ(transformer_named("llama3-8b", 4096).seq, 4096);
}

// The mean over layers of the pairs of tokens that attend to each other.
TEST(ModelConfig, WindowsShortenAttention) {
  EXPECT_EQ(transformer_named(kFolder + "mistral_7b.json", 4096).attended, 1);
  EXPECT_DOUBLE_EQ(transformer_named(kFolder + "mistral_7b.json", 16384).attended, 1 - 0.75 * 0.75);
  EXPECT_DOUBLE_EQ(transformer_named(kFolder + "gemma2_9b.json", 8192).attended, 1 - 0.5 * 0.25);
  nlohmann::json j = config_of("mistral_7b");
  j["layer_types"] = std::vector<std::string>(32, "full_attention");
  EXPECT_EQ(transformer_of_config(j, 16384, "c.json").attended, 1);
}

TEST(ModelConfig, WhatIsNotUnderstoodIsNamed) {
  const auto rejects = [](const std::string& name, const char* member, const nlohmann::json& value, const std::string& message,
                          std::int64_t seq = 1024) {
    nlohmann::json j = config_of(name);
    j[member] = value;
    try {
      transformer_of_config(j, seq, "config.json");
      ADD_FAILURE() << name << " " << member;
    } catch (const poplar::poplar_error& e) { EXPECT_THAT(e.what(), testing::HasSubstr(message)) << name << " " << member; }
  };
  rejects("llama3_8b", "num_key_value_hedas", 8,
          "the member 'num_key_value_hedas' (8) is not understood, and may change time or memory; the nearest is num_key_value_heads");
  rejects("llama3_8b", "zzz", 8,
          "the member 'zzz' (8) is not understood, and may change time or memory; take it out of a copy of the file");
  rejects("llama3_8b", "zzz", std::vector<int>(40, 1), "'zzz' ([1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1...) is not understood");
  rejects("gpt_oss_20b", "experts_per_token", 2, "experts_per_token is 2, num_experts_per_tok 4; they are one number");
  rejects("llama3_8b", "num_experts", 8, "the member 'num_experts' (8) is not understood");
  rejects("llama3_8b", "model_type", "lama", "model_type is 'lama', a family that is not known; the nearest is llama");
  rejects("llama3_8b", "hidden_size", "4096", "hidden_size is \"4096\"; a whole number from 0 to 2^40 is expected");
  rejects("llama3_8b", "hidden_size", 0, "hidden_size is 0; it must be 1 or more");
  rejects("llama3_8b", "intermediate_size", nullptr, "no 'intermediate_size', which its family has");
  rejects("llama3_8b", "hidden_act", "tanhshrink", "hidden_act is 'tanhshrink'; understood are silu");
  rejects("llama3_8b", "pretraining_tp", 4, "pretraining_tp is 4; only 1 is understood");
  rejects("llama3_8b", "use_cache", true, "a configuration does not say how many tokens a sample has (at most 8192); say --seq-length", 0);
  rejects("gpt2", "n_layer", 12, "samples of 2048 tokens are asked for; n_positions is 1024", 2048);
  rejects("qwen3_30b_a3b", "mlp_only_layers", {3}, "mlp_only_layers names layer 3; only first layers");
  rejects("qwen3_30b_a3b", "decoder_sparse_step", 0, "decoder_sparse_step is 0");
  rejects("falcon_7b", "alibi", true, "alibi is true; attention with biases of positions is not understood");
  rejects("falcon_7b", "activation", "silu", "activation is 'silu'; understood are relu and those that begin with gelu");
  rejects("phi4_mini", "full_attn_mod", 2, "full_attn_mod is 2; only 1 is understood");
  rejects("olmo2_7b", "layer_types", {"full_attention"}, "the member 'layer_types' ([\"full_attention\"]) is not understood");
  rejects("deepseek_v3", "moe_layer_freq", 2, "moe_layer_freq is 2; only 1 is understood");
  rejects("gemma2_9b", "layer_types", {"full_attention"}, "layer_types has 1 layers; num_hidden_layers is 42");
}

nlohmann::json text_of(const std::string& name) { return config_of(name)["text_config"]; }

// Of a model of images and texts the text is read, and what is not counted is said.
TEST(ModelConfig, TextInsideOfImages) {
  const Transformer t = transformer_named(kFolder + "gemma3_4b.json", 8192);
  EXPECT_EQ(t.name, kFolder + "gemma3_4b.json");
  EXPECT_THAT(t.notes,
              testing::ElementsAre(testing::HasSubstr(
                  "of the 'gemma3' its text_config, a 'gemma3_text', is read alone: vision_config and what joins them are not counted")));
  // Its class has them where the file does not.
  EXPECT_EQ(t.heads, 8);
  EXPECT_EQ(t.keys(), 4);
  EXPECT_EQ(t.size_of_head(), 256);
  EXPECT_EQ(t.vocab, 262208);
  EXPECT_TRUE(t.norms_heads && t.tied);
  // 29 of 34 layers see 1,024 of 8,192 tokens.
  EXPECT_DOUBLE_EQ(t.attended, 1 - 29.0 / 34 * (1 - (1024.0 * 8192 - 512.0 * 1024) / (4096.0 * 8192)));
  const auto message = [](const nlohmann::json& j) {
    try {
      transformer_of_config(j, 1024, "config.json");
    } catch (const poplar::poplar_error& e) { return std::string(e.what()); }
    return std::string();
  };
  EXPECT_THAT(message({{"model_type", "gemma3"}, {"text_config", {{"model_type", "siglip"}}}}),
              testing::HasSubstr("model_type is 'gemma3', a family that is not known; the nearest is gemma"));
  nlohmann::json j = config_of("gemma3_4b");
  j["text_config"]["num_experts"] = 8;
  EXPECT_THAT(message(j), testing::HasSubstr("config.json: text_config: the member 'num_experts' (8) is not understood"));
  // What ties the embedding may stand outside.
  j = config_of("mistral_small_3_1");
  EXPECT_FALSE(transformer_of_config(j, 1024, "c.json").tied);
  j["tie_word_embeddings"] = true;
  EXPECT_TRUE(transformer_of_config(j, 1024, "c.json").tied);
}

// Experts in every layer, or in every other one; chunks of attention in three of four layers.
TEST(ModelConfig, InterleavedExpertsAndChunks) {
  const Transformer scout = transformer_named(kFolder + "llama4_scout.json", 32768),
                    maverick = transformer_named(kFolder + "llama4_maverick.json", 8192);
  EXPECT_EQ(scout.expert_layers(), 48);
  EXPECT_EQ(maverick.expert_layers(), 24);
  EXPECT_EQ(maverick.expert_layers(3), 1);
  EXPECT_EQ(maverick.expert_layers(4), 2);
  EXPECT_EQ(maverick.ffn, 16384);
  EXPECT_EQ(maverick.expert_ffn, 8192);
  EXPECT_DOUBLE_EQ(scout.attended, 1 - 0.75 * 0.75);
  EXPECT_EQ(maverick.attended, 1);
  EXPECT_DOUBLE_EQ(transformer_named(kFolder + "llama4_scout.json", 12288).attended, 1 - 0.75 * (1 - 5.0 / 9));
  // Both are said to have 17 billion parameters that a token uses.
  for (const Transformer& t : {scout, maverick}) {
    Transformer used = t;
    used.experts = 1;
    EXPECT_NEAR(used.parameters() / 17e9, 1, 0.02);
  }
  // By stage: half of the layers have experts, whose memory is the most of all.
  Strategy s;
  s.pipeline = 4, s.data = 16, s.expert_in_data = 16;
  const StrategyFacts facts = facts_of(maverick, simulate::cluster_named("h100"), 64);
  ASSERT_FALSE(first_violation(facts, s));
  double weights = 0;
  for (const RankMemory& r : memory_of_ranks(facts, s)) weights += r.bytes[static_cast<std::size_t>(simulate::MemoryKind::weights)];
  EXPECT_NEAR(weights / 2, maverick.parameters() - maverick.expert_parameters() * 24 * 15 / 16, 1e6);
  // As layer_types and moe_layers say it.
  nlohmann::json j = text_of("llama4_scout");
  std::vector<std::string> kinds(48, "chunked_attention");
  for (std::size_t i = 3; i < 48; i += 4) kinds[i] = "full_attention";
  j["layer_types"] = kinds;
  EXPECT_EQ(transformer_of_config(j, 32768, "c.json").attended, scout.attended);
  j = text_of("llama4_maverick");
  j["moe_layers"] = {0, 2};
  EXPECT_THROW(transformer_of_config(j, 1024, "c.json"), poplar::poplar_error);
  const Transformer glm = transformer_named(kFolder + "glm4_5_air.json", 4096);
  EXPECT_EQ(glm.expert_layers(), 45);
  EXPECT_NEAR(glm.parameters() / 106e9, 1, 0.01);
  EXPECT_THAT(glm.notes, testing::ElementsAre(testing::HasSubstr("num_nextn_predict_layers 1")));
}

// Where attention and dense layers stand side by side, tensor parallelism joins once on each way.
TEST(ModelConfig, PartsSideBySide) {
  const Transformer falcon = transformer_named(kFolder + "falcon_7b.json", 2048),
                    newer = transformer_named(kFolder + "falcon_40b.json", 2048), phi = transformer_named(kFolder + "phi_2.json", 2048);
  EXPECT_EQ(falcon.keys(), 1);
  EXPECT_EQ(newer.keys(), 8);
  EXPECT_EQ(falcon.norms, 1);
  EXPECT_EQ(newer.norms, 2);
  EXPECT_TRUE(phi.parallel && phi.dropout && !phi.gated && !phi.tied);
  Strategy s;
  s.tensor = 8;
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  const auto counted = [&](const Transformer& t, std::string_view name) {
    return std::ranges::count(layer_costs(t, h100, s).forward, name, &LayerOp::name);
  };
  Transformer turns = phi;
  turns.parallel = false, turns.norms = 2;
  EXPECT_EQ(counted(phi, "all-reduce"), 1);
  EXPECT_EQ(counted(turns, "all-reduce"), 2);
  EXPECT_EQ(counted(phi, "norm 2"), 0);
  EXPECT_EQ(counted(newer, "norm 2"), 1);
  EXPECT_LT(layer_costs(phi, h100, s).seconds(), layer_costs(turns, h100, s).seconds());
}

// A name, a config.json and a file of sizes have one answer for samples that are longer than what positions were learned for.
TEST(ModelConfig, LearnedPositionsAreALimit) {
  const auto message = [](const std::string& name) {
    try {
      transformer_named(name, 2048);
    } catch (const poplar::poplar_error& e) { return std::string(e.what()); }
    return std::string();
  };
  EXPECT_THAT(message("gpt2"), testing::HasSubstr("gpt2: samples of 2048 tokens are asked for; the model has 1024 positions"));
  EXPECT_THAT(message(kFolder + "gpt2.json"), testing::HasSubstr("samples of 2048 tokens are asked for; n_positions is 1024"));
  const std::string sizes = testing::TempDir() + "gpt2_sizes.json";
  std::ofstream(sizes) << to_json(transformer_named("gpt2"));
  EXPECT_THAT(message(sizes), testing::HasSubstr("samples of 2048 tokens are asked for; the model has 1024 positions"));
  EXPECT_EQ(transformer_named("gpt2", 512).seq, 512);
  EXPECT_EQ(message("gpt3-13b"), "");
}

TEST(ModelConfig, PredictionLayersAreSaid) {
  EXPECT_THAT(transformer_named(kFolder + "deepseek_v3.json", 4096).notes,
              testing::ElementsAre(testing::HasSubstr("num_nextn_predict_layers 1")));
}

}  // namespace
}  // namespace pando::search
