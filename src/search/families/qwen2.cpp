#include "search/models/model_config.h"

#include <algorithm>

namespace pando::search {

ModelFamily family_qwen2() {
  ModelFamily f;
  f.types = {"qwen2", "qwen3"};
  f.doc = "Qwen 2, 2.5 and 3 without experts";
  // How positions of images are numbered.
  f.without_effect = {"use_mrope"};
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    read_gated_ffn(c, t);
    // Norms of queries and keys.
    t.norms_heads = c.text("model_type", "") == "qwen3";
    // The first layers look back without limit.
    const std::int64_t full = c.whole("max_window_layers", t.layers);
    const bool slides = c.flag("use_sliding_window", false);
    if (slides)
      read_window(c, t, 1 - static_cast<double>(std::min(full, t.layers)) / static_cast<double>(t.layers));
    else
      c.without_effect("sliding_window"), c.without_effect("layer_types");
  };
  return f;
}

}  // namespace pando::search
