#include "search/models/model_config.h"

namespace pando::search {

ModelFamily family_llama() {
  ModelFamily f;
  f.types = {"llama"};
  f.doc = "Llama 1 to 3, and what is built like them";
  f.read = [](ConfigReader& c, Transformer& t) {
    read_decoder(c, t, false);
    read_gated_ffn(c, t);
  };
  return f;
}

}  // namespace pando::search
