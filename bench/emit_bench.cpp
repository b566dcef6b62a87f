// Programs for PyTorch of a GPT's training step over eight devices: from the placed module to the files' text, without check.py's values.
#include "bench.h"
#include "emit/emit.h"
#include "models/gpt.h"
#include "transform/distribute/parallelise.h"
#include "transform/distribute/pieces.h"

namespace pando::bench {
namespace {

void run() {
  const transform::Program gpt = models::build_gpt({.layers = 24, .heads = 4, .width = 64, .vocabulary = 64, .sequence = 16, .batch = 64});
  const transform::Distributed d = transform::parallelise(gpt, {.tensor = 4, .pipeline = 2, .microbatches = 8});
  emit::Options options;
  options.pieces = transform::pieces_of(gpt, d);
  options.check_steps = 0;
  emit::Emitted e;
  const double seconds = seconds_of([&] { e = emit::torch_program(d.module, options); });
  const double ops = static_cast<double>(d.module.graph(d.module.main_graph()).ops.size());
  print_figure({.what = fmt::format("emit a GPT for PyTorch, {:.0f} ops, {} programs of {} ranks", ops, e.programs, e.ranks),
                .unit = "us/op",
                .ours = seconds / ops * 1e6,
                .at_most = 10});
}

}  // namespace
}  // namespace pando::bench

int main() {
  pando::bench::run();
  return 0;
}
