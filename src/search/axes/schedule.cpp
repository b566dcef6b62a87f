#include "search/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pando::search {

Axis axis_schedule() {
  Axis a;
  a.word = "schedule", a.doc = "The order of a pipeline's passes", a.position = 13, a.nesting = 8;
  a.get = [](const Strategy& s) { return static_cast<std::int64_t>(schedule_of(s)); };
  a.set = [](Strategy& s, std::int64_t v) { s.schedule = kSchedules[static_cast<std::size_t>(v)]; };
  a.names = {kSchedules.begin(), kSchedules.end()};
  a.trainers =
      "Megatron-LM: 1F1B; torchtitan pipeline_parallel_schedule: 1F1B, ZBVZeroBubble, InterleavedZeroBubble with one stage a rank (ZB-H1)";
  a.outside = "schedule=ZB-H2 (only the fork of Megatron-LM that its authors made has it)";
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    using S = PipelineSchedule;
    all.push_back(static_cast<std::int64_t>(S::one_f_one_b));
    if (c.space.reach == Reach::calculon || s.pipeline == 1 || s.stages_per_rank > 1) return;
    all.push_back(static_cast<std::int64_t>(S::zero_bubble_h1));
    if (c.space.reach == Reach::everything) all.push_back(static_cast<std::int64_t>(S::zero_bubble_h2));
    const bool halves = c.space.runnable ? c.model.layers % (2 * s.pipeline) == 0 : c.model.layers >= 2 * s.pipeline;
    if (halves && c.microbatches(s) >= 2 * s.pipeline) all.push_back(static_cast<std::int64_t>(S::zero_bubble_v));
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (name_of(schedule_of(s)) != s.schedule)
      return broken("schedule", fmt::format("predictions know the schedules {}, not '{}'", fmt::join(kSchedules, ", "), s.schedule));
    if (schedule_of(s) != PipelineSchedule::one_f_one_b && (s.pipeline == 1 || s.stages_per_rank > 1))
      return broken("schedule", "zero-bubble schedules need a pipeline that is not interleaved");
    if (schedule_of(s) == PipelineSchedule::zero_bubble_v && f.model.layers < 2 * s.pipeline)
      return broken("schedule", fmt::format("ZBV cuts {} layers into 2 x {} stages", f.model.layers, s.pipeline));
    if (schedule_of(s) == PipelineSchedule::zero_bubble_v && f.microbatches(s) < 2 * s.pipeline)
      return broken("schedule", fmt::format("ZBV needs 2 x {} microbatches; there are {}", s.pipeline, f.microbatches(s)));
    return Violation();
  };
  // Interleaved 1F1B is a schedule of its own.
  a.apply = [](const StrategyFacts&, const Strategy& s, Strategy& t) {
    if (schedule_of(s) == PipelineSchedule::one_f_one_b && s.stages_per_rank > 1) t.schedule = "Interleaved1F1B";
  };
  return a;
}

}  // namespace pando::search
