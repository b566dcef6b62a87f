#include "schedule/generate.h"
#include "schedule/synthesised.h"
#include "transform/distribute/axis.h"
#include "transform/distribute/strategy_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::transform {

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
    refuse_value(word, value,
                 fmt::format("one of {}, synthesised:MEMORY, or a table (a file's name that ends in .csv)", fmt::join(names, ", ")));
  }
  s.table.reset();
}

std::vector<std::string> names_of_space(const Space& space, std::int32_t ranks) {
  if (space.wide && space.schedules.empty()) return schedule::names();
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

AxisRow axis_schedule() {
  return {.word = "schedule",
          .position = 90,
          .doc = "By name, as in pando schedule; a file that ends in .csv brings a table",
          .option_of = [](const Strategy& s) -> std::string_view { return s.table ? "table" : "schedule"; },
          .shown_default = "1F1B",
          .write = [](const Strategy& s) { return s.pipeline > 1 ? s.schedule : std::string(); },
          .read = read_schedule,
          .copy = copies<&Strategy::schedule, &Strategy::table>,
          .nesting = 70,
          .is_open = [](const Strategy& s) { return s.pipeline > 1; },
          .choices = add_schedules};
}

}  // namespace pando::transform
