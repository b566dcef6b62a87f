#include "search/models/model_config.h"

#include <fmt/format.h>

namespace pando::search {

ModelFamily family_gpt2() {
  ModelFamily f;
  f.types = {"gpt2"};
  f.doc = "GPT-2, and GPT-3's sizes under its names";
  f.without_effect = {"attn_pdrop",
                      "n_ctx",
                      "summary_activation",
                      "summary_first_dropout",
                      "summary_proj_to_labels",
                      "summary_type",
                      "summary_use_proj",
                      "scale_attn_weights",
                      "scale_attn_by_inverse_layer_idx",
                      "reorder_and_upcast_attn"};
  f.read = [](ConfigReader& c, Transformer& t) {
    t.hidden = c.whole("n_embd"), t.layers = c.whole("n_layer"), t.heads = c.whole("n_head"), t.vocab = c.whole("vocab_size");
    t.ffn = c.whole("n_inner", 4 * t.hidden);
    t.learned_positions = c.whole("n_positions", 1024);
    if (t.seq > t.learned_positions)
      c.wrong(fmt::format("samples of {} tokens are asked for; n_positions is {}", t.seq, t.learned_positions));
    t.tied = c.flag("tie_word_embeddings", true);
    t.keeps_scores = false;
    const double resid = c.number("resid_pdrop", 0.1), embd = c.number("embd_pdrop", 0.1);
    t.dropout = resid > 0 || embd > 0;
    if (const std::string act = c.text("activation_function", "gelu_new"); !act.starts_with("gelu"))
      c.wrong(fmt::format("activation_function is '{}'; understood are those that begin with gelu", act));
    if (c.flag("add_cross_attention", false)) c.wrong("add_cross_attention is true; decoders alone are understood");
  };
  return f;
}

}  // namespace pando::search
