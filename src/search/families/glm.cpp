#include "search/models/model_config.h"

#include <fmt/format.h>

namespace pando::search {

namespace {

// Experts behind the first layers, as DeepSeek's.
void read_glm_experts(ConfigReader& c, Transformer& t) {
  t.norms_heads = c.flag("use_qk_norm", false);
  t.experts = c.whole("n_routed_experts"), t.experts_each = c.whole("num_experts_per_tok"), t.expert_ffn = c.whole("moe_intermediate_size");
  t.shared_experts = c.whole("n_shared_experts", 0), t.dense_layers = c.whole("first_k_dense_replace", 0);
  if (const std::int64_t more = c.whole("num_nextn_predict_layers", 0); more > 0)
    t.notes.push_back(fmt::format("num_nextn_predict_layers {}: layers that predict further tokens are not counted", more));
}

}  // namespace

ModelFamily family_glm() {
  ModelFamily f;
  f.types = {"glm", "glm4", "glm4_moe"};
  f.doc = "GLM 4 and 4.5: four norms in a layer of glm4, experts behind the first layers of glm4_moe";
  f.without_effect = {"n_group", "topk_group", "norm_topk_prob", "routed_scaling_factor", "scoring_func", "topk_method"};
  f.read = [](ConfigReader& c, Transformer& t) {
    const std::string type = c.text("model_type", "");
    read_decoder(c, t, false);
    read_gated_ffn(c, t);
    if (type == "glm4") t.norms = 4;
    if (type == "glm4_moe") read_glm_experts(c, t);
  };
  return f;
}

}  // namespace pando::search
