#include "search/models/model_config.h"

#include <fmt/format.h>

namespace pando::search {

ModelFamily family_gpt_oss() {
  ModelFamily f;
  f.types = {"gpt_oss"};
  f.doc = "gpt-oss: experts in every layer, windows in every other one";
  f.without_effect = {"output_router_logits", "router_aux_loss_coef", "swiglu_limit", "initial_context_length"};
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    read_gated_ffn(c, t);
    read_window(c, t, 0.5);
    t.experts = c.whole("num_local_experts"), t.experts_each = c.whole("num_experts_per_tok"), t.expert_ffn = t.ffn;
    // The same number under an older name.
    if (const std::int64_t each = c.whole("experts_per_token", t.experts_each); each != t.experts_each)
      c.wrong(fmt::format("experts_per_token is {}, num_experts_per_tok {}; they are one number", each, t.experts_each));
  };
  return f;
}

}  // namespace pando::search
