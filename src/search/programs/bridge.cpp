#include "search/programs/bridge.h"

#include "base/error.h"
#include "models/gpt.h"
#include "search/axis.h"
#include "search/programs/program_size.h"

#include <fmt/ranges.h>

namespace pando::search {

void check_has_program(const Transformer& t) {
  const bool plain = t.keys() == t.heads && t.size_of_head() * t.heads == t.hidden && !t.gated && t.experts == 0 && !t.latent() &&
                     !t.parallel && !t.norms_heads && t.norms == 2 && t.attended == 1;
  if (!plain) {
    fail(ErrorKind::poplar_error, "transformer-program",
         "'{}' has grouped keys, gated or parallel layers, experts, windows, further norms or latent attention; programs are built of "
         "GPT-2 and GPT-3 style transformers",
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

void check_can_be_written(const transform::Program& whole, const Strategy& s, std::string_view target) {
  // The size is about right; others have the rest.
  static constexpr double kMostOfFree = 0.9;
  const ProgramSize size = size_of_program(whole, s);
  const double bytes = bytes_to_write(size, target == "torch");
  const auto free = static_cast<double>(free_memory());
  if (bytes <= kMostOfFree * free) return;
  fail(ErrorKind::poplar_error, "program-size",
       "--emit {}: the program has about {:.3g} million ops ({} devices, {} microbatches), which takes about {:.2f} GiB to write; {:.2f} "
       "are "
       "free for this process, of which it takes {:.0f} % at most. Fewer --devices or a smaller --batch would do, or settings for a "
       "trainer, as --emit megatron",
       target, size.ops / 1e6, s.devices(), s.microbatches, bytes / kGib, free / kGib, 100 * kMostOfFree);
}

}  // namespace pando::search
