#include "search/models/model_config.h"

namespace pando::search {

ModelFamily family_gemma() {
  ModelFamily f;
  f.types = {"gemma", "gemma2", "gemma3_text"};
  f.doc = "Gemma 1 to 3, text";
  f.without_effect = {"attn_logit_softcapping",      "final_logit_softcapping", "query_pre_attn_scalar", "rope_local_base_freq",
                      "use_bidirectional_attention", "cache_implementation",    "sliding_window_size"};
  f.read = [](ConfigReader& c, Transformer& t) {
    const std::string type = c.text("model_type", "");
    const bool third = type == "gemma3_text";
    // Files of the third generation leave out what is as in its class.
    read_decoder(c, t, true, third ? DecoderSizes{8, 4, 256, 262208} : DecoderSizes{});
    // The second name is what the family's own code reads.
    read_gated_ffn(c, t, c.has("hidden_activation") ? "hidden_activation" : "hidden_act");
    c.without_effect("hidden_act"), c.without_effect("hidden_activation");
    if (type == "gemma") return;
    // Norms behind attention and behind the dense layers, too.
    t.norms = 4;
    t.norms_heads = third;
    const std::int64_t pattern = c.whole("sliding_window_pattern", third ? 6 : 2);
    if (pattern < 1) c.wrong("sliding_window_pattern is 0; one layer of so many looks back without limit");
    // Whole turns end with such a layer.
    const std::int64_t full = t.layers / pattern;
    read_window(c, t, 1 - static_cast<double>(full) / static_cast<double>(t.layers), 4096);
  };
  return f;
}

}  // namespace pando::search
