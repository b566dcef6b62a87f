#include "search/models/model_config.h"

namespace pando::search {

ModelFamily family_phi() {
  ModelFamily f;
  f.types = {"phi"};
  f.doc = "Phi 1, 1.5 and 2: attention and dense layers side by side behind one norm";
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    read_plain_ffn(c, t, "intermediate_size", "hidden_act", "gelu_new");
    t.parallel = true;
    t.norms = 1;
    t.norms_heads = c.flag("qk_layernorm", false);
  };
  return f;
}

}  // namespace pando::search
