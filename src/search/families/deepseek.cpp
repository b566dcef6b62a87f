#include "search/models/model_config.h"

#include <fmt/format.h>

namespace pando::search {

ModelFamily family_deepseek() {
  ModelFamily f;
  f.types = {"deepseek_v2", "deepseek_v3"};
  f.doc = "DeepSeek-V2 and V3: latent attention, shared experts, first layers without experts";
  f.without_effect = {"aux_loss_alpha",        "seq_aux", "n_group",    "topk_group", "topk_method", "norm_topk_prob", "scoring_func",
                      "routed_scaling_factor", "ep_size", "qk_head_dim"};
  f.read = [](ConfigReader& c, Transformer& t) {
    // Every head has keys and values of its own, made from the latent ones.
    c.whole("num_key_value_heads", 0);
    t.hidden = c.whole("hidden_size"), t.layers = c.whole("num_hidden_layers"), t.heads = c.whole("num_attention_heads");
    t.vocab = c.whole("vocab_size");
    t.kv_heads = t.heads;
    t.tied = c.flag("tie_word_embeddings", false);
    t.keeps_scores = t.dropout = false;
    c.number("attention_dropout", 0);
    c.without_effect("head_dim"), c.without_effect("pretraining_tp");
    read_gated_ffn(c, t);
    t.query_rank = c.whole("q_lora_rank", 0), t.kv_rank = c.whole("kv_lora_rank");
    t.head_size = c.whole("qk_nope_head_dim"), t.position_size = c.whole("qk_rope_head_dim"), t.value_size = c.whole("v_head_dim");
    t.experts = c.whole("n_routed_experts", 0);
    // Predicts a further token in pre-training; the published classes leave its layer out.
    if (const std::int64_t more = c.whole("num_nextn_predict_layers", 0); more > 0)
      t.notes.push_back(fmt::format("num_nextn_predict_layers {}: layers that predict further tokens are not counted", more));
    c.only("moe_layer_freq", 1, "experts in every layer behind the first ones");
    const std::int64_t each = c.whole("num_experts_per_tok", 0), shared = c.whole("n_shared_experts", 0),
                       wide = c.whole("moe_intermediate_size", 0), dense = c.whole("first_k_dense_replace", 0);
    if (t.experts == 0) return;
    t.experts_each = each, t.shared_experts = shared, t.expert_ffn = wide, t.dense_layers = dense;
  };
  return f;
}

}  // namespace pando::search
