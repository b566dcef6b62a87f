#include "search/programs/bridge.h"

#include "base/error.h"
#include "base/host_memory.h"
#include "models/gpt.h"
#include "search/axis.h"

#include <fmt/ranges.h>

#include <algorithm>

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

namespace {

// An op of the program of all devices, its names, its text and what is made of it, at the most.
constexpr double kBytesOfOp = 2000;
// Of the host's memory; others have the rest.
constexpr double kMostOfHost = 0.8;

}  // namespace

double ops_of(const transform::Program& whole, const Strategy& s) {
  Strategy strategy = s;
  strategy.verify = false;
  // A collective's result is a tuple of all its devices: each has a share of it.
  const auto count = [&](std::int32_t microbatches) {
    const ir::Module m = transform::parallelise_some(whole, strategy, {.microbatches = microbatches, .first_rank = true}).module;
    double ops = 0;
    for (const ir::OpId o : m.graph(m.main_graph()).ops) {
      const std::size_t members = m.results(o).empty() ? 0 : m.type_of(m.result(o)).elements.size();
      ops += 1 / static_cast<double>(std::max<std::size_t>(1, members));
    }
    return ops;
  };
  const double ranks = static_cast<double>(s.devices()) / s.pipeline;
  const std::int32_t few = 2 * s.pipeline, more = 4 * s.pipeline;
  if (s.microbatches <= more) return ranks * count(s.microbatches);
  const double of_few = count(few), each = (count(more) - of_few) / (more - few);
  return ranks * (of_few + each * (s.microbatches - few));
}

void check_can_be_written(const transform::Program& whole, const Strategy& s, std::string_view target) {
  const double ops = ops_of(whole, s), bytes = kBytesOfOp * ops;
  const auto most = static_cast<double>(host_memory());
  if (bytes <= kMostOfHost * most) return;
  fail(
      ErrorKind::poplar_error, "program-size",
      "--emit {}: the program has about {:.3g} million ops ({} devices, {} microbatches), which takes about {:.1f} GiB to write; this host "
      "has {:.1f}, of which it takes {:.0f} % at most. Fewer --devices or a smaller --batch would do, or settings for a trainer, as --emit "
      "megatron",
      target, ops / 1e6, s.devices(), s.microbatches, bytes / kGib, most / kGib, 100 * kMostOfHost);
}

}  // namespace pando::search
