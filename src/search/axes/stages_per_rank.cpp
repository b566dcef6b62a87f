#include "schedule/generate.h"
#include "schedule/synthesised.h"
#include "search/axis.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::search {

namespace {

std::int32_t stages_per_rank_of(const schedule::Table& t) {
  return std::max(1, t.stages() / static_cast<std::int32_t>(std::max<std::size_t>(1, t.ranks.size())));
}

std::vector<std::int32_t> numbers_of_stages(const SpaceFacts& f, const Strategy& s) {
  if (s.table) return {stages_per_rank_of(*s.table)};
  const std::int32_t fixed = schedule::stages_per_rank_of(s.schedule);
  if (fixed > 0) return {fixed};
  if (schedule::is_synthesised(s.schedule)) return {1};
  return (f.space.reach == Reach::everything) ? std::vector<std::int32_t>{2, 3, 4} : std::vector<std::int32_t>{2};
}

// A table that the space brings has its stages; each has a layer.
bool stages_are_possible(const SpaceFacts& f, const Strategy& s) {
  const bool is_brought = s.table && std::ranges::any_of(f.space.tables, [&](const NamedTable& t) { return t.name == s.schedule; });
  if (is_brought && s.stages_per_rank != stages_per_rank_of(*s.table)) return false;
  return std::int64_t{s.pipeline} * s.stages_per_rank <= static_cast<std::int64_t>(f.layer_operations.size());
}

}  // namespace

Axis axis_stages_per_rank() {
  Axis a = axis_of<&Strategy::stages_per_rank>("stages-per-rank", "Stages that each rank of a pipeline has, in turns with the other ranks",
                                               7, 6, 1);
  a.brief = "v";
  a.aliases = {"interleave"};
  a.trainers = "Megatron-LM --num-virtual-stages-per-pipeline-rank, torchtitan Interleaved1F1B";
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    const std::int64_t layers = c.sizes->model.layers / s.pipeline;
    if (s.pipeline == 1) return all.push_back(1);
    if (c.space.reach == Reach::calculon || c.space.runnable) return add_divisors(layers, all);
    for (std::int64_t v = 1; v <= layers; ++v) {
      // Microbatches go in rounds of p: without one that divides there is nothing to interleave.
      if (v == 1 || c.sizes->batch / s.data % s.pipeline == 0) all.push_back(v);
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
  a.program = {.position = 70,
               .shown_default = "1",
               .number = &Strategy::stages_per_rank,
               .nesting = 80,
               .is_open = [](const Strategy& s) { return s.pipeline > 1; },
               .numbers_of_space = numbers_of_stages,
               .is_possible = stages_are_possible,
               .doc = "Stages of the pipeline on each rank"};
  return a;
}

}  // namespace pando::search
