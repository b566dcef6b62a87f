#include "search/models/transformer.h"

#include "base/source_location.h"
#include "base/text/similar_names.h"
#include "search/models/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <utility>

namespace pando::search {

double Transformer::layer_parameters(bool with_experts) const {
  const auto h = static_cast<double>(hidden), a = static_cast<double>(heads);
  double attention = 0;
  if (latent()) {
    const auto q = static_cast<double>(query_rank), kv = static_cast<double>(kv_rank), head = static_cast<double>(size_of_head()),
               pos = static_cast<double>(position_size), value = static_cast<double>(value_size);
    const double queries = query_rank > 0 ? h * q + q * a * (head + pos) : h * a * (head + pos);
    attention = queries + h * (kv + pos) + kv * a * (head + value) + a * value * h;
  } else {
    const auto d = static_cast<double>(size_of_head());
    attention = h * d * (a + 2 * static_cast<double>(keys())) + a * d * h;
  }
  const double matrices = gated ? 3 : 2;
  const double wide = with_experts ? static_cast<double>(shared_experts * expert_ffn) : static_cast<double>(ffn);
  return attention + matrices * h * wide + (with_experts ? h * static_cast<double>(experts) : 0);
}

double Transformer::expert_parameters() const {
  return (gated ? 3.0 : 2.0) * static_cast<double>(hidden) * static_cast<double>(expert_ffn) * static_cast<double>(experts);
}

double Transformer::parameters() const {
  const auto with = static_cast<double>(expert_layers()), without = static_cast<double>(layers) - with;
  return without * layer_parameters(false) + with * (layer_parameters(true) + expert_parameters()) +
         (tied ? 1 : 2) * embedding_parameters() + position_parameters();
}

double Transformer::operations_per_token() const {
  const auto with = static_cast<double>(expert_layers()), without = static_cast<double>(layers) - with;
  const double used = experts > 0 ? expert_parameters() * static_cast<double>(experts_each) / static_cast<double>(experts) : 0;
  const double matrices = without * layer_parameters(false) + with * (layer_parameters(true) + used) + embedding_parameters();
  const double head = static_cast<double>(size_of_head() + position_size),
               value = static_cast<double>(latent() ? value_size : size_of_head());
  const double attention = attended * static_cast<double>(layers) * static_cast<double>(heads) * (head + value) * static_cast<double>(seq);
  return 6 * (matrices + attention);
}

namespace {

Transformer gpt(std::string name, std::int64_t layers, std::int64_t heads, std::int64_t hidden, std::int64_t seq) {
  Transformer t;
  t.name = std::move(name);
  t.layers = layers;
  t.heads = heads;
  t.hidden = hidden;
  t.ffn = 4 * hidden;
  t.seq = t.learned_positions = seq;
  t.tied = true;
  return t;
}

Transformer llama(std::string name, std::int64_t layers, std::int64_t heads, std::int64_t hidden, std::int64_t ffn) {
  Transformer t = gpt(std::move(name), layers, heads, hidden, 8192);
  t.kv_heads = 8;
  t.ffn = ffn;
  t.vocab = 128256;
  t.learned_positions = 0;
  t.gated = true;
  t.tied = false;
  t.dropout = false;
  t.keeps_scores = false;
  return t;
}

Transformer deepseek() {
  Transformer t = llama("deepseek-v2", 60, 128, 5120, 12288);
  t.kv_heads = 128;
  t.head_size = 128;
  t.vocab = 102400;
  t.seq = 4096;
  t.experts = 160;
  t.experts_each = 6;
  t.shared_experts = 2;
  t.expert_ffn = 1536;
  t.dense_layers = 1;
  t.query_rank = 1536;
  t.kv_rank = 512;
  t.position_size = 64;
  t.value_size = 128;
  return t;
}

Transformer deepseek3() {
  Transformer t = deepseek();
  t.name = "deepseek-v3";
  t.layers = 61;
  t.hidden = 7168;
  t.ffn = 18432;
  t.vocab = 129280;
  t.experts = 256;
  t.experts_each = 8;
  t.shared_experts = 1;
  t.expert_ffn = 2048;
  t.dense_layers = 3;
  return t;
}

Transformer mixtral(std::string name, std::int64_t layers, std::int64_t heads, std::int64_t hidden, std::int64_t ffn) {
  Transformer t = llama(std::move(name), layers, heads, hidden, ffn);
  t.vocab = 32000;
  t.seq = 4096;
  t.experts = 8;
  t.experts_each = 2;
  t.expert_ffn = ffn;
  return t;
}

// The members of a model's file; `f` gets each with what it is read into.
template <class F>
void each_size(Transformer& t, F f) {
  f("layers", t.layers), f("hidden", t.hidden), f("heads", t.heads), f("kv_heads", t.kv_heads), f("ffn", t.ffn), f("seq", t.seq),
      f("vocab", t.vocab), f("head_size", t.head_size);
  f("experts", t.experts), f("experts_each", t.experts_each), f("shared_experts", t.shared_experts), f("expert_ffn", t.expert_ffn),
      f("dense_layers", t.dense_layers), f("expert_every", t.expert_every);
  f("query_rank", t.query_rank), f("kv_rank", t.kv_rank), f("position_size", t.position_size), f("value_size", t.value_size);
  f("learned_positions", t.learned_positions), f("norms", t.norms);
}
template <class F>
void each_switch(Transformer& t, F f) {
  f("gated", t.gated), f("dropout", t.dropout), f("keeps_scores", t.keeps_scores), f("tied", t.tied), f("norms_heads", t.norms_heads),
      f("parallel", t.parallel);
}

[[noreturn]] void reject_file(const std::string& file, const std::string& what) {
  fail_at(ErrorKind::poplar_error, "model-file", {file}, "{}", what);
}

// A misspelt member would be one that is left out.
void check_members(const nlohmann::json& j, const std::string& file) {
  if (!j.is_object())
    reject_file(file, "a model is an object of sizes, such as {\"layers\": 32, \"hidden\": 4096, \"heads\": 32, \"seq\": 4096}");
  std::vector<std::string> known{"name", "attended"};
  Transformer t;
  each_size(t, [&](const char* name, const auto&) { known.emplace_back(name); });
  each_switch(t, [&](const char* name, const auto&) { known.emplace_back(name); });
  for (const auto& [name, value] : j.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::vector<std::string> near = similar_names(name, known);
    reject_file(file, fmt::format("there is no member '{}'; {} {}", name, near.empty() ? "known are" : "the nearest is",
                                  near.empty() ? fmt::format("{}", fmt::join(known, ", ")) : near[0]));
  }
}

// Of a sample of more tokens, the last ones have no position.
std::string too_long(const Transformer& t) {
  if (t.learned_positions == 0 || t.seq <= t.learned_positions) return "";
  return fmt::format("samples of {} tokens are asked for; the model has {} positions, which are learned", t.seq, t.learned_positions);
}

// Sizes that no transformer has.
void check_sizes(Transformer t, const std::string& file) {
  each_size(t, [&](const char* name, std::int64_t n) {
    if (n < 0) reject_file(file, fmt::format("{} is {}; a size is not negative", name, n));
    if (n > (std::int64_t{1} << 40)) reject_file(file, fmt::format("{} is {}; no size is over 2^40", name, n));
  });
  for (const auto& [name, n] : {std::pair{"layers", t.layers},
                                {"heads", t.heads},
                                {"seq", t.seq},
                                {"hidden", t.hidden},
                                {"ffn", t.ffn},
                                {"vocab", t.vocab},
                                {"expert_every", t.expert_every}}) {
    if (n < 1) reject_file(file, fmt::format("{} is {}; it must be 1 or more", name, n));
  }
  const auto divides = [&](const char* a, std::int64_t n, const char* b, std::int64_t m) {
    if (m % n != 0) reject_file(file, fmt::format("{} is {}, which does not divide {} {}", a, n, b, m));
  };
  if (t.head_size == 0) divides("heads", t.heads, "hidden", t.hidden);
  if (t.kv_heads > 0) divides("kv_heads", t.kv_heads, "heads", t.heads);
  if (t.experts == 0) {
    for (const auto& [name, n] : {std::pair{"experts_each", t.experts_each},
                                  {"shared_experts", t.shared_experts},
                                  {"expert_ffn", t.expert_ffn},
                                  {"dense_layers", t.dense_layers},
                                  {"expert_every", t.expert_every - 1}}) {
      if (n > 0)
        reject_file(file, fmt::format("{} is {}, but there are no experts", name, n + (name == std::string_view("expert_every") ? 1 : 0)));
    }
  } else {
    if (t.experts_each < 1 || t.experts_each > t.experts)
      reject_file(file, fmt::format("experts_each is {}; a token goes to 1 to {} experts", t.experts_each, t.experts));
    if (t.expert_ffn < 1) reject_file(file, "expert_ffn, the width of an expert, is missing");
    if (t.expert_layers() == 0)
      reject_file(file, fmt::format("there are {} experts, but none of {} layers has them: dense_layers is {}, expert_every {}", t.experts,
                                    t.layers, t.dense_layers, t.expert_every));
    if (t.dense_layers > t.layers) reject_file(file, fmt::format("dense_layers is {}; there are {} layers", t.dense_layers, t.layers));
  }
  if (!t.latent() && t.query_rank > 0)
    reject_file(file, fmt::format("query_rank is {} and kv_rank 0; latent attention has a rank of keys and values", t.query_rank));
  if (t.norms != 2 && t.norms != 4 && !(t.norms == 1 && t.parallel))
    reject_file(file, fmt::format("norms is {}; a layer has 2, or 4 with those behind its parts, or 1 where these are parallel", t.norms));
  if (const std::string why = too_long(t); !why.empty()) reject_file(file, why);
  if (!(t.attended > 0 && t.attended <= 1))
    reject_file(file, fmt::format("attended is {}; a share over 0 and up to 1 is expected", t.attended));
}

Transformer from_json(const std::string& text, std::int64_t seq, const std::string& file) {
  try {
    auto j = nlohmann::json::parse(text);
    if (j.is_object() && (j.contains("model_type") || j.contains("architectures"))) {
      Transformer t = transformer_of_config(j, seq, file);
      check_sizes(t, file);
      return t;
    }
    check_members(j, file);
    if (seq > 0) j["seq"] = seq;
    Transformer t;
    t.name = j.value("name", file);
    for (const char* needed : {"layers", "hidden", "heads", "seq"}) {
      if (!j.contains(needed)) fail_at(ErrorKind::poplar_error, "model-file", {file}, "no '{}'", needed);
    }
    t.ffn = 0;
    each_size(t, [&](const char* name, std::int64_t& into) {
      if (j.contains(name) && !j[name].is_number_integer())
        reject_file(file, fmt::format("{} is {}; a whole number is expected", name, j[name].dump()));
      into = j.value(name, into);
    });
    each_switch(t, [&](const char* name, bool& into) {
      if (j.contains(name) && !j[name].is_boolean())
        reject_file(file, fmt::format("{} is {}; true or false is expected", name, j[name].dump()));
      into = j.value(name, into);
    });
    if (!j.contains("ffn")) t.ffn = 4 * t.hidden;
    if (j.contains("attended") && !j["attended"].is_number())
      reject_file(file, fmt::format("attended is {}; a number is expected", j["attended"].dump()));
    t.attended = j.value("attended", 1.0);
    check_sizes(t, file);
    return t;
  } catch (const nlohmann::json::parse_error& e) {
    fail_at(ErrorKind::poplar_error, "model-file", location_in(text, e.byte - 1, file), "{}", e.what());
  } catch (const nlohmann::json::exception& e) { fail_at(ErrorKind::poplar_error, "model-file", {file}, "{}", e.what()); }
}

}  // namespace

const std::vector<Transformer>& transformers() {
  static const std::vector<Transformer> all = {
      gpt("gpt2", 12, 12, 768, 1024),
      gpt("gpt3-xl", 24, 16, 2048, 2048),
      gpt("gpt3-13b", 40, 40, 5120, 2048),
      gpt("gpt3-175b", 96, 96, 12288, 2048),
      gpt("megatron-22b", 48, 64, 6144, 2048),
      gpt("turing-530b", 105, 128, 20480, 2048),
      gpt("megatron-1t", 128, 160, 25600, 2048),
      llama("llama3-8b", 32, 32, 4096, 14336),
      llama("llama3-70b", 80, 64, 8192, 28672),
      llama("llama3-405b", 126, 128, 16384, 53248),
      deepseek(),
      deepseek3(),
      mixtral("mixtral-8x7b", 32, 32, 4096, 14336),
      mixtral("mixtral-8x22b", 56, 48, 6144, 16384),
  };
  return all;
}

std::string to_json(const Transformer& t) {
  nlohmann::ordered_json j = {{"name", t.name}};
  Transformer copy = t;
  const Transformer plain;
  each_size(copy, [&](const char* name, std::int64_t n) { j[name] = n; });
  each_switch(copy, [&](const char* name, bool b) { j[name] = b; });
  if (t.attended != plain.attended) j["attended"] = t.attended;
  return j.dump(2) + "\n";
}

Transformer transformer_named(std::string_view name_or_file, std::int64_t seq) {
  std::string known;
  for (Transformer t : transformers()) {
    if (t.name == name_or_file) {
      if (seq > 0) t.seq = seq;
      if (const std::string why = too_long(t); !why.empty()) fail(ErrorKind::poplar_error, "model-positions", "{}: {}", t.name, why);
      return t;
    }
    known += (known.empty() ? "" : ", ") + t.name;
  }
  const std::string file(name_or_file);
  std::ifstream in(file);
  if (!in) fail(ErrorKind::poplar_error, "unknown-model", "no model and no file '{}'; models: {}", name_or_file, known);
  return from_json(std::string(std::istreambuf_iterator<char>(in), {}), seq, file);
}

}  // namespace pando::search
