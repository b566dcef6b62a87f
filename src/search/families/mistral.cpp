#include "search/models/model_config.h"

namespace pando::search {

ModelFamily family_mistral() {
  ModelFamily f;
  f.types = {"mistral", "ministral"};
  f.doc = "Mistral 7B, Nemo, Small and Large";
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    read_gated_ffn(c, t);
    read_window(c, t, 1);
  };
  return f;
}

}  // namespace pando::search
