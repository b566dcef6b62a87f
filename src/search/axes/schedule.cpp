#include "search/axis.h"

#include <fmt/format.h>

namespace pando::search {

Axis axis_schedule() {
  Axis a = axis_of<&Strategy::schedule>("schedule", "The order of a pipeline's passes", 13, 8, 0);
  a.names = {"1F1B", "ZB-H1", "ZB-H2", "ZBV"};
  a.trainers =
      "Megatron-LM: 1F1B; torchtitan pipeline_parallel_schedule: 1F1B, ZBVZeroBubble, InterleavedZeroBubble with one stage a rank (ZB-H1)";
  a.outside = "schedule=ZB-H2 (only the fork of Megatron-LM that its authors made has it)";
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    using S = PipelineSchedule;
    all.push_back(static_cast<std::int64_t>(S::one_f_one_b));
    if (c.space.reach == Reach::calculon || s.pipeline == 1 || s.interleave > 1) return;
    all.push_back(static_cast<std::int64_t>(S::zero_bubble_h1));
    if (c.space.reach == Reach::everything) all.push_back(static_cast<std::int64_t>(S::zero_bubble_h2));
    const bool halves = c.space.runnable ? c.model.layers % (2 * s.pipeline) == 0 : c.model.layers >= 2 * s.pipeline;
    if (halves && s.microbatches() >= 2 * s.pipeline) all.push_back(static_cast<std::int64_t>(S::zero_bubble_v));
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    if (s.schedule != PipelineSchedule::one_f_one_b && (s.pipeline == 1 || s.interleave > 1))
      return broken("schedule", "zero-bubble schedules need a pipeline that is not interleaved");
    if (s.schedule == PipelineSchedule::zero_bubble_v && f.model.layers < 2 * s.pipeline)
      return broken("schedule", fmt::format("ZBV cuts {} layers into 2 x {} stages", f.model.layers, s.pipeline));
    if (s.schedule == PipelineSchedule::zero_bubble_v && s.microbatches() < 2 * s.pipeline)
      return broken("schedule", fmt::format("ZBV needs 2 x {} microbatches; there are {}", s.pipeline, s.microbatches()));
    return Violation();
  };
  // Interleaved 1F1B is a schedule of its own.
  a.apply = [](const Transformer&, const Strategy& s, transform::Strategy& t) {
    t.schedule = s.schedule == PipelineSchedule::one_f_one_b && s.interleave > 1 ? "Interleaved1F1B" : name_of(s.schedule);
  };
  return a;
}

}  // namespace pando::search
