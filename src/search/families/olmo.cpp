#include "search/models/model_config.h"

namespace pando::search {

// Both norms of a layer stand behind its parts, not before them: they read and write as much.
ModelFamily family_olmo() {
  ModelFamily f;
  f.types = {"olmo2", "olmo3"};
  f.doc = "OLMo 2 and 3";
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    read_gated_ffn(c, t);
    t.norms_heads = true;
    if (c.text("model_type", "") == "olmo3") read_window(c, t, 0.75, 4096);
  };
  return f;
}

}  // namespace pando::search
