#include "search/models/model_config.h"

#include "base/source_location.h"
#include "base/text/similar_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace pando::search {

#define X(name) ModelFamily family_##name();
#include "family_manifest.inc"
#undef X

const std::vector<ModelFamily>& model_families() {
  static const std::vector<ModelFamily> all = {
#define X(name) family_##name(),
#include "family_manifest.inc"
#undef X
  };
  return all;
}

namespace {

// Names, numbers of tokens, starting values, constants of norms and of positions, how text is generated.
constexpr std::string_view kWithoutEffect[] = {"_name_or_path",
                                               "architectures",
                                               "auto_map",
                                               "bos_token_id",
                                               "eos_token_id",
                                               "pad_token_id",
                                               "unk_token_id",
                                               "sep_token_id",
                                               "cls_token_id",
                                               "decoder_start_token_id",
                                               "bad_words_ids",
                                               "dtype",
                                               "torch_dtype",
                                               "transformers_version",
                                               "model_type",
                                               "use_cache",
                                               "initializer_range",
                                               "layer_norm_eps",
                                               "layer_norm_epsilon",
                                               "rms_norm_eps",
                                               "norm_eps",
                                               "rope_theta",
                                               "rope_scaling",
                                               "rope_parameters",
                                               "rope_interleave",
                                               "max_position_embeddings",
                                               "partial_rotary_factor",
                                               "is_decoder",
                                               "is_encoder_decoder",
                                               "output_attentions",
                                               "output_hidden_states",
                                               "return_dict",
                                               "use_return_dict",
                                               "id2label",
                                               "label2id",
                                               "num_labels",
                                               "problem_type",
                                               "task_specific_params",
                                               "gradient_checkpointing",
                                               "chunk_size_feed_forward",
                                               "temperature",
                                               "top_k",
                                               "top_p",
                                               "do_sample",
                                               "num_beams",
                                               "max_length",
                                               "min_length",
                                               "repetition_penalty",
                                               "attn_implementation",
                                               "_attn_implementation",
                                               "language",
                                               "license",
                                               "use_bfloat16",
                                               "tokenizer_class",
                                               "prefix",
                                               "quantization_config",
                                               "pruned_heads",
                                               "finetuning_task",
                                               "keys_to_ignore_at_inference",
                                               "attention_bias",
                                               "mlp_bias"};
// Letters of a value in a message.
constexpr std::size_t kMostShown = 40;

}  // namespace

void ConfigReader::wrong(const std::string& what) const { fail_at(ErrorKind::poplar_error, "model-file", {file_}, "{}", what); }

const nlohmann::json* ConfigReader::member(const std::string& name) {
  read_.push_back(name);
  return has(name) ? &config_[name] : nullptr;
}

std::int64_t ConfigReader::whole(const std::string& name, std::int64_t otherwise) {
  const nlohmann::json* v = member(name);
  if (v == nullptr) return otherwise;
  if (!v->is_number_integer() || v->get<double>() < 0 || v->get<double>() > std::pow(2.0, 40))
    wrong(fmt::format("{} is {}; a whole number from 0 to 2^40 is expected", name, v->dump()));
  return v->get<std::int64_t>();
}

std::int64_t ConfigReader::whole(const std::string& name) {
  if (!has(name)) wrong(fmt::format("no '{}', which its family has", name));
  const std::int64_t n = whole(name, 0);
  if (n < 1) wrong(fmt::format("{} is {}; it must be 1 or more", name, n));
  return n;
}

double ConfigReader::number(const std::string& name, double otherwise) {
  const nlohmann::json* v = member(name);
  if (v == nullptr) return otherwise;
  if (!v->is_number()) wrong(fmt::format("{} is {}; a number is expected", name, v->dump()));
  return v->get<double>();
}

bool ConfigReader::flag(const std::string& name, bool otherwise) {
  const nlohmann::json* v = member(name);
  if (v == nullptr) return otherwise;
  if (!v->is_boolean()) wrong(fmt::format("{} is {}; true or false is expected", name, v->dump()));
  return v->get<bool>();
}

std::string ConfigReader::text(const std::string& name, const std::string& otherwise) {
  const nlohmann::json* v = member(name);
  if (v == nullptr) return otherwise;
  if (!v->is_string()) wrong(fmt::format("{} is {}; a text is expected", name, v->dump()));
  return v->get<std::string>();
}

std::vector<std::string> ConfigReader::texts(const std::string& name) {
  const nlohmann::json* v = member(name);
  std::vector<std::string> all;
  if (v == nullptr) return all;
  const bool right = v->is_array() && std::ranges::all_of(*v, [](const nlohmann::json& x) { return x.is_string(); });
  if (!right) wrong(fmt::format("{} is {}; a list of texts is expected", name, v->dump()));
  for (const nlohmann::json& x : *v) all.push_back(x.get<std::string>());
  return all;
}

std::vector<std::int64_t> ConfigReader::whole_numbers(const std::string& name) {
  const nlohmann::json* v = member(name);
  std::vector<std::int64_t> all;
  if (v == nullptr) return all;
  const bool right = v->is_array() && std::ranges::all_of(*v, [](const nlohmann::json& x) { return x.is_number_integer(); });
  if (!right) wrong(fmt::format("{} is {}; a list of whole numbers is expected", name, v->dump()));
  for (const nlohmann::json& x : *v) all.push_back(x.get<std::int64_t>());
  return all;
}

void ConfigReader::only(const std::string& name, std::int64_t value, std::string_view why) {
  const std::int64_t n = whole(name, value);
  if (n != value) wrong(fmt::format("{} is {}; only {} is understood: {}", name, n, value, why));
}

void ConfigReader::end() const {
  std::vector<std::string> known = read_;
  for (const std::string_view name : kWithoutEffect) known.emplace_back(name);
  for (const auto& [name, value] : config_.items()) {
    // Members of classes are no sizes.
    if (std::ranges::find(known, name) != known.end() || name.starts_with("_")) continue;
    const std::vector<std::string> near = similar_names(name, known);
    const std::string said = value.dump(), shown = said.size() > kMostShown ? said.substr(0, kMostShown) + "..." : said;
    wrong(fmt::format("the member '{}' ({}) is not understood, and may change time or memory; {}", name, shown,
                      near.empty() ? "take it out of a copy of the file if it changes neither" : "the nearest is " + near[0]));
  }
}

void read_decoder(ConfigReader& c, Transformer& t, bool ties_otherwise, const DecoderSizes& otherwise) {
  const auto needed = [&](const char* name, std::int64_t or_so) { return or_so > 0 ? c.whole(name, or_so) : c.whole(name); };
  t.hidden = c.whole("hidden_size"), t.layers = c.whole("num_hidden_layers"), t.heads = needed("num_attention_heads", otherwise.heads);
  t.kv_heads = c.whole("num_key_value_heads", otherwise.kv_heads > 0 ? otherwise.kv_heads : t.heads);
  t.head_size = c.whole("head_dim", otherwise.head_size), t.vocab = needed("vocab_size", otherwise.vocab);
  t.tied = c.flag("tie_word_embeddings", ties_otherwise);
  t.keeps_scores = false;
  t.dropout = false;
  for (const char* name : {"attention_dropout", "hidden_dropout", "resid_dropout", "resid_pdrop", "embd_dropout", "embd_pdrop"}) {
    const double share = c.number(name, 0);
    if (share < 0 || share >= 1) c.wrong(fmt::format("{} is {}; a share from 0 to 1 is expected", name, share));
    // Attention's own is inside its kernel.
    t.dropout = t.dropout || (share > 0 && std::string_view(name) != "attention_dropout");
  }
  c.only("pretraining_tp", 1, "larger values cut products into slices");
}

void read_gated_ffn(ConfigReader& c, Transformer& t, const char* activation) {
  t.gated = true;
  t.ffn = c.whole("intermediate_size");
  const std::string act = c.text(activation, "silu");
  constexpr std::string_view known[] = {"silu", "swish", "gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "relu"};
  if (std::ranges::find(known, act) == std::end(known))
    c.wrong(fmt::format("{} is '{}'; understood are {}", activation, act, fmt::join(known, ", ")));
}

void read_plain_ffn(ConfigReader& c, Transformer& t, const char* size, const char* activation, const char* otherwise) {
  t.gated = false;
  t.ffn = c.whole(size, 4 * t.hidden);
  const std::string act = c.text(activation, otherwise);
  if (!act.starts_with("gelu") && act != "relu")
    c.wrong(fmt::format("{} is '{}'; understood are relu and those that begin with gelu", activation, act));
}

void set_window(Transformer& t, std::int64_t window, double windowed) {
  if (window <= 0 || window >= t.seq) return;
  const auto s = static_cast<double>(t.seq), w = static_cast<double>(window);
  // Of s^2 / 2 pairs, each token but the first w sees w.
  const double share = (w * s - w * w / 2) / (s * s / 2);
  t.attended = 1 - windowed * (1 - share);
}

void set_chunks(Transformer& t, std::int64_t chunk, double chunked) {
  if (chunk <= 0 || chunk >= t.seq) return;
  const auto s = static_cast<double>(t.seq), n = static_cast<double>(chunk), rest = static_cast<double>(t.seq % chunk);
  const double share = (static_cast<double>(t.seq / chunk) * n * n + rest * rest) / (s * s);
  t.attended = 1 - chunked * (1 - share);
}

std::optional<std::int64_t> layers_of_kind(ConfigReader& c, const Transformer& t, std::string_view kind) {
  const std::vector<std::string> kinds = c.texts("layer_types");
  if (kinds.empty()) return std::nullopt;
  if (static_cast<std::int64_t>(kinds.size()) != t.layers)
    c.wrong(fmt::format("layer_types has {} layers; num_hidden_layers is {}", kinds.size(), t.layers));
  for (const std::string& k : kinds) {
    if (k != "full_attention" && k != kind) c.wrong(fmt::format("layer_types has '{}'; understood are full_attention, {}", k, kind));
  }
  return std::ranges::count(kinds, kind);
}

void read_window(ConfigReader& c, Transformer& t, double windowed, std::int64_t otherwise) {
  if (const auto sliding = layers_of_kind(c, t, "sliding_attention"))
    windowed = static_cast<double>(*sliding) / static_cast<double>(t.layers);
  set_window(t, c.whole("sliding_window", otherwise), windowed);
}

namespace {

// What a model of images and texts has beside its text.
std::string beside_text(const nlohmann::json& config) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : config.items()) {
    if (name != "text_config" && value.is_object() && name.ends_with("_config") && name != "quantization_config") parts.push_back(name);
  }
  return parts.empty() ? "what stands beside it" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Transformer transformer_of_config(const nlohmann::json& config, std::int64_t seq, const std::string& file) {
  ConfigReader reader(config, file);
  const std::string type = reader.text("model_type", "");
  std::vector<std::string> known;
  for (const ModelFamily& f : model_families()) {
    for (const std::string_view t : f.types) known.emplace_back(t);
    if (std::ranges::find(f.types, type) == f.types.end()) continue;
    if (seq == 0) {
      const std::int64_t most = reader.whole(reader.has("n_positions") ? "n_positions" : "max_position_embeddings", 0);
      reader.wrong(fmt::format("a configuration does not say how many tokens a sample has{}; say --seq-length",
                               most > 0 ? fmt::format(" (at most {})", most) : std::string()));
    }
    Transformer t;
    t.name = reader.text("_name_or_path", "");
    if (t.name.empty()) t.name = file;
    t.seq = seq;
    f.read(reader, t);
    for (const std::string_view name : f.without_effect) reader.without_effect(name);
    reader.end();
    return t;
  }
  // A model of texts inside one of images, too.
  if (reader.has("text_config") && config["text_config"].is_object()) {
    nlohmann::json text = config["text_config"];
    const std::string inner = ConfigReader(text, file).text("model_type", "");
    if (std::ranges::find(known, inner) != known.end()) {
      if (reader.has("tie_word_embeddings") && !text.contains("tie_word_embeddings"))
        text["tie_word_embeddings"] = config["tie_word_embeddings"];
      Transformer t = transformer_of_config(text, seq, file + ": text_config");
      t.name = file;
      t.notes.push_back(fmt::format("of the '{}' its text_config, a '{}', is read alone: {} and what joins them are not counted", type,
                                    inner, beside_text(config)));
      return t;
    }
  }
  const std::vector<std::string> near = similar_names(type, known);
  std::ranges::sort(known);
  reader.wrong(fmt::format("model_type is '{}', a family that is not known; {} {}", type, near.empty() ? "known are" : "the nearest is",
                           near.empty() ? fmt::format("{}", fmt::join(known, ", ")) : near[0]));
}

}  // namespace pando::search
