#include "search/transformer.h"

#include "base/source_location.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace pando::search {

double Transformer::layer_parameters(bool with_experts) const {
  const auto h = static_cast<double>(hidden), a = static_cast<double>(heads);
  double attention = 0;
  if (latent()) {
    const auto q = static_cast<double>(query_rank), kv = static_cast<double>(kv_rank), head = static_cast<double>(size_of_head()),
               pos = static_cast<double>(position_size), value = static_cast<double>(value_size);
    attention = h * q + q * a * (head + pos) + h * (kv + pos) + kv * a * (head + value) + a * value * h;
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
  const auto with = experts > 0 ? static_cast<double>(layers - dense_layers) : 0, without = static_cast<double>(layers) - with;
  return without * layer_parameters(false) + with * (layer_parameters(true) + expert_parameters()) + embedding_parameters();
}

namespace {

Transformer gpt(std::string name, std::int64_t layers, std::int64_t heads, std::int64_t hidden, std::int64_t seq) {
  Transformer t;
  t.name = std::move(name);
  t.layers = layers;
  t.heads = heads;
  t.hidden = hidden;
  t.ffn = 4 * hidden;
  t.seq = seq;
  return t;
}

Transformer llama(std::string name, std::int64_t layers, std::int64_t heads, std::int64_t hidden, std::int64_t ffn) {
  Transformer t = gpt(std::move(name), layers, heads, hidden, 8192);
  t.kv_heads = 8;
  t.ffn = ffn;
  t.vocab = 128256;
  t.gated = true;
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

Transformer from_json(const std::string& text, const std::string& file) {
  try {
    const auto j = nlohmann::json::parse(text);
    Transformer t;
    t.name = j.value("name", file);
    const auto read = [&](const char* name, std::int64_t& into) { into = j.value(name, into); };
    read("layers", t.layers), read("hidden", t.hidden), read("heads", t.heads), read("kv_heads", t.kv_heads), read("seq", t.seq),
        read("vocab", t.vocab);
    t.ffn = j.value("ffn", 4 * t.hidden);
    read("head_size", t.head_size), read("experts", t.experts), read("experts_each", t.experts_each),
        read("shared_experts", t.shared_experts);
    read("expert_ffn", t.expert_ffn), read("dense_layers", t.dense_layers), read("query_rank", t.query_rank), read("kv_rank", t.kv_rank);
    read("position_size", t.position_size), read("value_size", t.value_size);
    t.gated = j.value("gated", t.gated);
    t.dropout = j.value("dropout", t.dropout);
    t.keeps_scores = j.value("keeps_scores", t.keeps_scores);
    for (const char* needed : {"layers", "hidden", "heads", "seq"}) {
      if (!j.contains(needed)) fail_at(ErrorKind::poplar_error, "model-file", {file}, "no '{}'", needed);
    }
    if (t.layers < 1 || t.heads < 1 || t.seq < 1 || t.hidden < 1 || t.ffn < 1 || t.vocab < 1 ||
        (t.head_size == 0 && t.hidden % t.heads != 0)) {
      fail_at(ErrorKind::poplar_error, "model-file", {file}, "sizes must be positive, and heads divide hidden");
    }
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

Transformer transformer_named(std::string_view name_or_file) {
  std::string known;
  for (const Transformer& t : transformers()) {
    if (t.name == name_or_file) return t;
    known += (known.empty() ? "" : ", ") + t.name;
  }
  const std::string file(name_or_file);
  std::ifstream in(file);
  if (!in) fail(ErrorKind::poplar_error, "unknown-model", "no model and no file '{}'; models: {}", name_or_file, known);
  return from_json(std::string(std::istreambuf_iterator<char>(in), {}), file);
}

}  // namespace pando::search
