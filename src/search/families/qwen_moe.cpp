#include "search/models/model_config.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::search {

namespace {

// Layers without experts, which must be the first ones.
std::int64_t dense_layers_of(ConfigReader& c, std::int64_t layers) {
  std::vector<std::int64_t> dense = c.whole_numbers("mlp_only_layers");
  std::ranges::sort(dense);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (dense[i] != static_cast<std::int64_t>(i) || dense[i] >= layers)
      c.wrong(fmt::format("mlp_only_layers names layer {}; only first layers without experts are understood", dense[i]));
  }
  return static_cast<std::int64_t>(dense.size());
}

}  // namespace

ModelFamily family_qwen_moe() {
  ModelFamily f;
  f.types = {"qwen2_moe", "qwen3_moe"};
  f.doc = "Qwen 2, 2.5 and 3 with experts";
  f.without_effect = {"norm_topk_prob", "output_router_logits", "router_aux_loss_coef", "qkv_bias"};
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    read_gated_ffn(c, t);
    t.norms_heads = c.text("model_type", "") == "qwen3_moe";
    t.experts = c.whole("num_experts"), t.experts_each = c.whole("num_experts_per_tok"), t.expert_ffn = c.whole("moe_intermediate_size");
    t.dense_layers = dense_layers_of(c, t.layers);
    t.expert_every = c.whole("decoder_sparse_step", 1);
    if (t.expert_every < 1) c.wrong("decoder_sparse_step is 0; one layer of so many has experts");
    const std::int64_t shared = c.whole("shared_expert_intermediate_size", 0);
    if (shared % t.expert_ffn != 0)
      c.wrong(
          fmt::format("shared_expert_intermediate_size is {}; a multiple of moe_intermediate_size {} is understood", shared, t.expert_ffn));
    t.shared_experts = shared / t.expert_ffn;
    c.whole("max_window_layers", 0);
    if (c.flag("use_sliding_window", false)) c.wrong("use_sliding_window is true; windows of models with experts are not understood");
    c.without_effect("sliding_window"), c.without_effect("layer_types");
  };
  return f;
}

}  // namespace pando::search
