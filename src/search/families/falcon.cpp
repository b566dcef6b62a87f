#include "search/models/model_config.h"

namespace pando::search {

ModelFamily family_falcon() {
  ModelFamily f;
  f.types = {"falcon"};
  f.doc = "Falcon 1 and 2: attention and dense layers side by side";
  // Where biases are.
  f.without_effect = {"bias", "max_position_embeddings"};
  f.read = [](ConfigReader& c, Transformer& t) {
    const bool newer = c.flag("new_decoder_architecture", false), one = c.flag("multi_query", true);
    read_decoder(c, t, true);
    read_plain_ffn(c, t, "ffn_hidden_size", "activation", "gelu");
    // Older files have all heads of keys, or one.
    const std::int64_t keys = c.whole("num_kv_heads", t.heads);
    t.kv_heads = newer ? keys : one ? 1 : t.heads;
    t.parallel = newer || c.flag("parallel_attn", true);
    c.without_effect("parallel_attn");
    const std::int64_t norms = c.whole("num_ln_in_parallel_attn", newer ? 2 : 1);
    t.norms = t.parallel ? norms : 2;
    if (c.flag("alibi", false)) c.wrong("alibi is true; attention with biases of positions is not understood");
    if (c.flag("apply_residual_connection_post_layernorm", false))
      c.wrong("apply_residual_connection_post_layernorm is true; residuals that begin before norms are understood");
  };
  return f;
}

}  // namespace pando::search
