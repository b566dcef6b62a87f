// Models as their publishers describe them: the config.json of Hugging Face's transformers. Each family of models is a file of families/,
// found by the build: which sizes its configurations have, under which names, and which members change neither time nor memory.
#pragma once

#include "search/models/transformer.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pando::search {

// The members of a configuration, each of which somebody has to understand.
class ConfigReader {
 public:
  ConfigReader(const nlohmann::json& config, std::string file) : config_(config), file_(std::move(file)) {}

  // A size. Rejects (poplar_error, id model-file) a member that is missing or none.
  std::int64_t whole(const std::string& name);
  // null, or no such member: `otherwise`.
  std::int64_t whole(const std::string& name, std::int64_t otherwise);
  double number(const std::string& name, double otherwise);
  bool flag(const std::string& name, bool otherwise);
  std::string text(const std::string& name, const std::string& otherwise);
  std::vector<std::string> texts(const std::string& name);
  std::vector<std::int64_t> whole_numbers(const std::string& name);
  bool has(const std::string& name) const { return config_.contains(name) && !config_[name].is_null(); }
  // Only this value is understood.
  void only(const std::string& name, std::int64_t value, std::string_view why);
  void without_effect(std::string_view name) { read_.emplace_back(name); }
  // Rejects members that nobody read, with the nearest that is known.
  void end() const;
  [[noreturn]] void wrong(const std::string& what) const;

 private:
  const nlohmann::json* member(const std::string& name);
  const nlohmann::json& config_;
  std::string file_;
  std::vector<std::string> read_;
};

struct ModelFamily {
  // Values of model_type.
  std::vector<std::string_view> types;
  std::string_view doc;
  // Members of this family that change neither time nor memory, beside those that all have.
  std::vector<std::string_view> without_effect;
  // Sizes; `seq` is there.
  void (*read)(ConfigReader& config, Transformer& model) = nullptr;
};

const std::vector<ModelFamily>& model_families();

// `seq`: tokens of a sample; 0 is rejected, because configurations say only how many there can be. Rejects (poplar_error, id model-file)
// families and members that are not known.
Transformer transformer_of_config(const nlohmann::json& config, std::int64_t seq, const std::string& file);

// --- for rows: what most families have

// Sizes that a family's files may leave out; 0: none may.
struct DecoderSizes {
  std::int64_t heads = 0, kv_heads = 0, head_size = 0, vocab = 0;
};
// hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim, vocab_size, tie_word_embeddings, dropout.
void read_decoder(ConfigReader& c, Transformer& t, bool ties_otherwise, const DecoderSizes& otherwise = {});
// intermediate_size, and an activation with a gate.
void read_gated_ffn(ConfigReader& c, Transformer& t, const char* activation = "hidden_act");
// Two matrices, and an activation of the kind of gelu or relu between them.
void read_plain_ffn(ConfigReader& c, Transformer& t, const char* size, const char* activation, const char* otherwise);
// The share of causal attention that is computed where `windowed` of all layers look back `window` tokens at most.
void set_window(Transformer& t, std::int64_t window, double windowed);
// layer_types, or otherwise `windowed`: the share of layers with sliding_window.
void read_window(ConfigReader& c, Transformer& t, double windowed, std::int64_t otherwise = 0);
// The same of layers with chunks of `chunk` tokens, which see nothing of those before them.
void set_chunks(Transformer& t, std::int64_t chunk, double chunked);
// How many of the layers are of the kind `kind`; the others are "full_attention". None: the configuration does not say.
std::optional<std::int64_t> layers_of_kind(ConfigReader& c, const Transformer& t, std::string_view kind);

}  // namespace pando::search
