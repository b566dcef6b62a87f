#include "schedule/building/row.h"
#include "schedule/schedule_row.h"

namespace pando::schedule {

namespace {

Table looped_bfs(const Shape& s) {
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    Row row;
    for (std::int32_t v = 0; v < s.stages_per_rank; ++v) {
      for (std::int32_t m = 0; m < s.microbatches; ++m) row.add(Action::forward, r + v * s.ranks, m);
    }
    for (std::int32_t v = s.stages_per_rank; v-- > 0;) {
      for (std::int32_t m = s.microbatches; m-- > 0;) row.add(Action::backward, r + v * s.ranks, m);
    }
    t.ranks.push_back(std::move(row.cells));
  }
  return t;
}

}  // namespace

extern const ScheduleRow schedule_looped_bfs;
constexpr ScheduleRow schedule_looped_bfs = checked({
    .name = "LoopedBFS",
    .doc = "Breadth first over the stages of a rank: all microbatches through one, then through the next.",
    .source = "Lamy-Poirier 2022",
    .position = 4,
    .stages_per_rank = 0,
    .make = looped_bfs,
});

}  // namespace pando::schedule
