#include "schedule/generate.h"
#include "schedule/synthesised.h"
#include "transform/distribute/axis.h"

#include <algorithm>

namespace pando::transform {

namespace {

std::int32_t stages_per_rank_of(const schedule::Table& t) {
  return std::max(1, t.stages() / static_cast<std::int32_t>(std::max<std::size_t>(1, t.ranks.size())));
}

std::vector<std::int32_t> numbers_of_stages(const SpaceFacts& f, const Strategy& s) {
  if (s.table) return {stages_per_rank_of(*s.table)};
  const std::int32_t fixed = schedule::stages_per_rank_of(s.schedule);
  if (fixed > 0) return {fixed};
  if (schedule::is_synthesised(s.schedule)) return {1};
  return f.space.wide ? std::vector<std::int32_t>{2, 3, 4} : std::vector<std::int32_t>{2};
}

// A table that the space brings has its stages; each has a layer.
bool stages_are_possible(const SpaceFacts& f, const Strategy& s) {
  const bool is_brought = s.table && std::ranges::any_of(f.space.tables, [&](const NamedTable& t) { return t.name == s.schedule; });
  if (is_brought && s.stages_per_rank != stages_per_rank_of(*s.table)) return false;
  return std::int64_t{s.pipeline} * s.stages_per_rank <= static_cast<std::int64_t>(f.layer_operations.size());
}

}  // namespace

AxisRow axis_stages_per_rank() {
  return {.word = "stages-per-rank",
          .aliases = {"v"},
          .position = 70,
          .doc = "Stages of the pipeline on each rank",
          .shown_default = "1",
          .number = &Strategy::stages_per_rank,
          .nesting = 80,
          .is_open = [](const Strategy& s) { return s.pipeline > 1; },
          .numbers_of_space = numbers_of_stages,
          .is_possible = stages_are_possible};
}

}  // namespace pando::transform
