#include "search/models/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pando::search {

namespace {

// Layers that look back without limit, as no_rope_layers says (0: such a layer), or every fourth.
std::int64_t whole_layers_of(ConfigReader& c, const Transformer& t) {
  const std::int64_t interval = c.whole("no_rope_layer_interval", 4);
  if (interval < 1) c.wrong("no_rope_layer_interval is 0; one layer of so many looks back without limit");
  const std::vector<std::int64_t> rotated = c.whole_numbers("no_rope_layers");
  if (rotated.empty()) return t.layers / interval;
  if (static_cast<std::int64_t>(rotated.size()) != t.layers)
    c.wrong(fmt::format("no_rope_layers has {} layers; num_hidden_layers is {}", rotated.size(), t.layers));
  return std::ranges::count(rotated, 0);
}

}  // namespace

ModelFamily family_llama4() {
  ModelFamily f;
  f.types = {"llama4_text"};
  f.doc = "Llama 4, text: experts in every or every other layer, a shared expert, attention in chunks";
  // How the largest scores are scaled; norms of queries and keys that have no weights are read below.
  f.without_effect = {"attn_scale",           "attn_temperature_tuning", "floor_scale",         "for_llm_compressor",
                      "output_router_logits", "router_aux_loss_coef",    "router_jitter_noise", "cache_implementation"};
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    read_gated_ffn(c, t);
    t.norms_heads = c.flag("use_qk_norm", true);
    // An expert's width, and that of layers without experts.
    t.expert_ffn = t.ffn;
    t.experts = c.whole("num_local_experts"), t.experts_each = c.whole("num_experts_per_tok"), t.shared_experts = 1;
    t.expert_every = c.whole("interleave_moe_layer_step", 1);
    t.ffn = c.whole("intermediate_size_mlp", 2 * t.expert_ffn);
    if (t.expert_every < 1) c.wrong("interleave_moe_layer_step is 0; one layer of so many has experts");
    std::vector<std::int64_t> by_step;
    for (std::int64_t i = t.expert_every - 1; i < t.layers; i += t.expert_every) by_step.push_back(i);
    if (const std::vector<std::int64_t> said = c.whole_numbers("moe_layers"); !said.empty() && said != by_step)
      c.wrong(fmt::format("moe_layers is [{}]; with interleave_moe_layer_step {} those are understood that it names", fmt::join(said, ", "),
                          t.expert_every));
    const std::int64_t whole = whole_layers_of(c, t), chunked = layers_of_kind(c, t, "chunked_attention").value_or(t.layers - whole);
    set_chunks(t, c.whole("attention_chunk_size", 8192), static_cast<double>(chunked) / static_cast<double>(t.layers));
  };
  return f;
}

}  // namespace pando::search
