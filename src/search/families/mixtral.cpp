#include "search/models/model_config.h"

namespace pando::search {

ModelFamily family_mixtral() {
  ModelFamily f;
  f.types = {"mixtral"};
  f.doc = "Mixtral: experts in every layer";
  f.without_effect = {"output_router_logits", "router_aux_loss_coef", "router_jitter_noise"};
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    read_gated_ffn(c, t);
    read_window(c, t, 1);
    t.experts = c.whole("num_local_experts");
    t.experts_each = c.whole("num_experts_per_tok");
    t.expert_ffn = t.ffn;
  };
  return f;
}

}  // namespace pando::search
