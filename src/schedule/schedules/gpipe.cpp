#include "schedule/building/row.h"
#include "schedule/schedule_row.h"

namespace pando::schedule {

namespace {

Table gpipe(const Shape& s) {
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    Row row;
    for (std::int32_t m = 0; m < s.microbatches; ++m) row.add(Action::forward, r, m);
    for (std::int32_t m = 0; m < s.microbatches; ++m) row.add(Action::backward, r, m);
    t.ranks.push_back(std::move(row.cells));
  }
  return t;
}

}  // namespace

extern const ScheduleRow schedule_gpipe;
constexpr ScheduleRow schedule_gpipe = checked({
    .name = "GPipe",
    .doc = "All forward passes, then all backward passes.",
    .source = "Huang et al. 2019",
    .position = 0,
    .stages_per_rank = 1,
    .make = gpipe,
});

}  // namespace pando::schedule
