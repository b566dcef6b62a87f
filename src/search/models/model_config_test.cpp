// Published configurations: sizes as their publishers count them, and what is not understood.
#include "search/models/model_config.h"
#include "base/testing/places.h"
#include "search/strategy.h"
#include "simulate/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

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
  ASSERT_GE(csv.rows(), 10u);
  for (std::size_t i = 0; i < csv.rows(); ++i) {
    const std::string& name = csv.text(i, "config");
    const Transformer t = transformer_named(kFolder + name + ".json", 1024);
    // Norms and biases are left out.
    EXPECT_NEAR(t.parameters() / csv.number(i, "parameters"), 1, 1.5e-3) << name;
    EXPECT_LE(t.parameters(), csv.number(i, "parameters")) << name;
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
  rejects("deepseek_v3", "moe_layer_freq", 2, "moe_layer_freq is 2; only 1 is understood");
  rejects("gemma2_9b", "layer_types", {"full_attention"}, "layer_types has 1 layers; num_hidden_layers is 42");
}

// What is inside a model of images and texts is named where it is known.
TEST(ModelConfig, TextInsideOfImages) {
  const auto message = [](const char* inner) {
    try {
      transformer_of_config({{"model_type", "gemma3"}, {"text_config", {{"model_type", inner}}}}, 1024, "config.json");
    } catch (const poplar::poplar_error& e) { return std::string(e.what()); }
    return std::string();
  };
  EXPECT_THAT(message("gemma3_text"), testing::HasSubstr("its text_config is a 'gemma3_text', which is: give that alone"));
  EXPECT_THAT(message("siglip"), testing::HasSubstr("model_type is 'gemma3', a family that is not known; the nearest is gemma"));
}

TEST(ModelConfig, PredictionLayersAreSaid) {
  EXPECT_THAT(transformer_named(kFolder + "deepseek_v3.json", 4096).notes,
              testing::ElementsAre(testing::HasSubstr("num_nextn_predict_layers 1")));
}

}  // namespace
}  // namespace pando::search
