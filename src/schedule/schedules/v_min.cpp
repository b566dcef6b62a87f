#include "schedule/schedule_row.h"

namespace pando::schedule {

extern const ScheduleRow schedule_v_min;
constexpr ScheduleRow schedule_v_min = checked({
    .name = "V-Min",
    .doc = "Stages in a V with a third of 1F1B's memory.",
    .source = "Qi et al. 2024, synthesised under that limit",
    .position = 10,
    .stages_per_rank = 2,
    .in_a_v = true,
    .splits_backward = true,
    .make = [](const Shape& s) { return made_within(s, true, (s.ranks + 2) / 3, true); },
});

}  // namespace pando::schedule
