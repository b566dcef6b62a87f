#include "schedule/generate.h"
#include "schedule/synthesised.h"
#include "search/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::search {

namespace {

// A name, or a file that brings a table.
void read_schedule(Strategy& s, std::string_view word, std::string_view value) {
  const auto& names = schedule::names();
  s.schedule = std::string(value);
  if (value.ends_with(".csv")) {
    s.table = table_from(s.schedule);
    return;
  }
  if (std::find(names.begin(), names.end(), value) == names.end() && !schedule::is_synthesised(value)) {
    reject_value(word, value,
                 fmt::format("one of {}, synthesised:MEMORY, or a table (a file's name that ends in .csv)", fmt::join(names, ", ")));
  }
  s.table.reset();
}

std::vector<std::string> names_of_space(const Space& space, std::int32_t ranks) {
  if (space.reach == Reach::everything && space.schedules.empty()) return schedule::names();
  if (space.schedules.empty()) return {"1F1B", "Interleaved1F1B"};
  std::vector<std::string> names;
  for (const std::string& name : space.schedules) {
    if (name == "all") {
      names.insert(names.end(), schedule::names().begin(), schedule::names().end());
    } else if (name == "synthesised") {
      // As much memory as 1F1B and as ZB-H2 take; in a V as much as V-Half.
      for (const std::int32_t memory : {ranks, 2 * ranks - 1}) names.push_back(schedule::synthesised_name(false, memory));
      for (const std::int32_t memory : {ranks / 2 + 1, ranks}) names.push_back(schedule::synthesised_name(true, memory));
    } else {
      names.push_back(name);
    }
  }
  return names;
}

void add_schedules(const SpaceFacts& f, const Strategy& s, std::vector<Strategy>& to) {
  for (std::string& name : names_of_space(f.space, s.pipeline)) to.emplace_back(s).schedule = std::move(name);
  for (const NamedTable& t : f.space.tables) {
    const auto ranks = static_cast<std::int32_t>(t.table.ranks.size());
    if (ranks != s.pipeline || t.table.microbatches() != s.microbatches || t.table.stages() % ranks != 0) continue;
    to.emplace_back(s).schedule = t.name;
    to.back().table = t.table;
  }
}

}  // namespace

Axis axis_schedule() {
  Axis a;
  a.word = "schedule", a.doc = "The order of a pipeline's passes", a.position = 13, a.nesting = 8;
  a.get = [](const Strategy& s) { return static_cast<std::int64_t>(schedule_of(s)); };
  a.set = [](Strategy& s, std::int64_t v) { s.schedule = kSchedules[static_cast<std::size_t>(v)]; };
  a.names = {kSchedules.begin(), kSchedules.end()};
  a.trainers =
      "Megatron-LM: 1F1B; torchtitan pipeline_parallel_schedule: 1F1B, ZBVZeroBubble, InterleavedZeroBubble with one stage a rank (ZB-H1)";
  a.outside = "schedule=ZB-H2 (only the fork of Megatron-LM that its authors made has it)";
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    using S = PipelineSchedule;
    all.push_back(static_cast<std::int64_t>(S::one_f_one_b));
    if (c.space.reach == Reach::calculon || s.pipeline == 1 || s.stages_per_rank > 1) return;
    all.push_back(static_cast<std::int64_t>(S::zero_bubble_h1));
    if (c.space.reach == Reach::everything) all.push_back(static_cast<std::int64_t>(S::zero_bubble_h2));
    const bool halves = c.space.runnable ? c.sizes->model.layers % (2 * s.pipeline) == 0 : c.sizes->model.layers >= 2 * s.pipeline;
    if (halves && c.sizes->microbatches(s) >= 2 * s.pipeline) all.push_back(static_cast<std::int64_t>(S::zero_bubble_v));
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
  a.program = {.position = 90,
               .option_of = [](const Strategy& s) -> std::string_view { return s.table ? "table" : "schedule"; },
               .shown_default = "1F1B",
               .write = [](const Strategy& s) { return s.pipeline > 1 ? s.schedule : std::string(); },
               .read = read_schedule,
               .copy = copies<&Strategy::schedule, &Strategy::table>,
               .nesting = 70,
               .is_open = [](const Strategy& s) { return s.pipeline > 1; },
               .choices = add_schedules,
               .doc = "By name, as in pando schedule; a file that ends in .csv brings a table"};
  return a;
}

}  // namespace pando::search
