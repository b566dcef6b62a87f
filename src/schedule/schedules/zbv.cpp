#include "schedule/building/v_row.h"
#include "schedule/schedule_row.h"

namespace pando::schedule {

namespace {

Table zbv(const Shape& s) {
  need_many("ZBV", s);
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    VRow v(s, r);
    for (std::int32_t i = 0; i < 2 * (s.ranks - r) - 1; ++i) v.forward(0);
    for (std::int32_t i = 0; i < r; ++i) v.forward(1), v.forward(0);
    for (std::int32_t i = 0; i < s.ranks - r; ++i) v.forward(1), v.input(1), v.weight(1);
    while (v.forwards[1] < s.microbatches) {
      if (v.forwards[0] < s.microbatches) v.forward(0);
      v.input(0), v.weight(0);
      v.forward(1);
      v.input(1), v.weight(1);
    }
    for (std::int32_t i = 0; i < r; ++i) v.input(0), v.input(1);
    for (std::int32_t i = 0; i < s.ranks - r; ++i) v.input(0), v.weight(0);
    while (v.has_weight(1)) v.weight(1);
    while (v.has_weight(0)) v.weight(0);
    t.ranks.push_back(std::move(v.row.cells));
  }
  return t;
}

}  // namespace

extern const ScheduleRow schedule_zbv;
constexpr ScheduleRow schedule_zbv = checked({
    .name = "ZBV",
    .doc = "Two stages a rank in a V, I and W apart.",
    .source = "Qi et al. 2024",
    .position = 8,
    .stages_per_rank = 2,
    .in_a_v = true,
    .splits_backward = true,
    .make = zbv,
});

}  // namespace pando::schedule
