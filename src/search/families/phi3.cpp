#include "search/models/model_config.h"

namespace pando::search {

// Queries, keys and values are one product, and so are both halves of the gated layer: what they take is that of their parts.
ModelFamily family_phi3() {
  ModelFamily f;
  f.types = {"phi3"};
  f.doc = "Phi 3, 3.5 and 4";
  f.without_effect = {"original_max_position_embeddings", "lm_head_bias"};
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    c.only("full_attn_mod", 1, "all layers look back alike");
    c.only("interpolate_factor", 1, "positions as they are");
    read_gated_ffn(c, t);
    read_window(c, t, 1);
  };
  return f;
}

}  // namespace pando::search
