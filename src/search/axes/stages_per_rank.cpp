#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_stages_per_rank() {
  Axis a = axis_of<&Strategy::stages_per_rank>("v", "Stages that each rank of a pipeline has, in turns with the other ranks", 7, 6, 1);
  a.aliases = {"stages-per-rank", "interleave"};
  a.trainers = "Megatron-LM --num-virtual-stages-per-pipeline-rank, torchtitan Interleaved1F1B";
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    const std::int64_t layers = c.model.layers / s.pipeline;
    if (s.pipeline == 1) return all.push_back(1);
    if (c.space.reach == Reach::calculon || c.space.runnable) return add_divisors(layers, all);
    for (std::int64_t v = 1; v <= layers; ++v) {
      // Microbatches go in rounds of p: without one that divides there is nothing to interleave.
      if (v == 1 || c.batch / s.data % s.pipeline == 0) all.push_back(v);
    }
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.stages_per_rank < 1) return broken("degree", fmt::format("v={}: 1 or more is expected", s.stages_per_rank));
    if (s.stages_per_rank == 1) return Violation();
    if (s.pipeline == 1) return broken("interleaving", "interleaving needs a pipeline");
    if (f.model.layers < std::int64_t{s.pipeline} * s.stages_per_rank)
      return broken("interleaving",
                    fmt::format("{} layers are fewer than p={} x v={} stages", f.model.layers, s.pipeline, s.stages_per_rank));
    if (s.data * s.microbatch > 0 && f.batch % (s.data * s.microbatch) == 0 && f.microbatches(s) % s.pipeline != 0)
      return broken("interleaving",
                    fmt::format("interleaving takes microbatches in rounds of p={}; there are {}", s.pipeline, f.microbatches(s)));
    return Violation();
  };
  a.apply = [](const StrategyFacts&, const Strategy& s, Strategy& t) { t.stages_per_rank = static_cast<std::int32_t>(stages_of_rank(s)); };
  return a;
}

}  // namespace pando::search
