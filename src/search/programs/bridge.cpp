#include "search/programs/bridge.h"

#include "base/error.h"
#include "models/gpt.h"
#include "search/axis.h"

#include <fmt/ranges.h>

namespace pando::search {

void check_has_program(const Transformer& t) {
  const bool plain = t.keys() == t.heads && t.size_of_head() * t.heads == t.hidden && !t.gated && t.experts == 0 && !t.latent();
  if (!plain) {
    fail(ErrorKind::poplar_error, "transformer-program",
         "'{}' has grouped keys, gated layers, experts or latent attention; programs are built of GPT-2 and GPT-3 style transformers",
         t.name);
  }
}

transform::Program program_of(const Transformer& t, std::int64_t batch, ir::DType dtype) {
  check_has_program(t);
  models::Gpt g;
  g.layers = t.layers;
  g.heads = t.heads;
  g.width = t.hidden;
  g.inner = t.ffn;
  g.vocabulary = t.vocab;
  g.sequence = t.seq;
  g.batch = batch;
  g.dtype = dtype;
  g.optimizer.kind = models::Optimizer::adam;
  return models::build_gpt(g);
}

Strategy transforms_of(const StrategyFacts& facts, const Strategy& s) {
  if (const auto missing = missing_of(s); !missing.empty()) {
    fail(ErrorKind::poplar_error, "strategy-runs", "no transform does this: {}; a search for a program leaves it out",
         fmt::join(missing, "; "));
  }
  Strategy program = s;
  static_cast<transform::Predicted&>(program) = {};
  program.first_device = 0;
  for (const Axis* a : predicted_axes()) {
    if (a->apply != nullptr) a->apply(facts, s, program);
  }
  return program;
}

}  // namespace pando::search
