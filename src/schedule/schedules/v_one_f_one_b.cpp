#include "schedule/schedule_row.h"

namespace pando::schedule {

extern const ScheduleRow schedule_v_one_f_one_b;
constexpr ScheduleRow schedule_v_one_f_one_b = checked({
    .name = "V-1F1B",
    .doc = "Stages in a V with 1F1B's memory, backward passes whole.",
    .source = "Qi et al. 2024, synthesised under that limit",
    .position = 11,
    .stages_per_rank = 2,
    .in_a_v = true,
    .make = [](const Shape& s) { return made_within(s, true, s.ranks - 1, false); },
});

}  // namespace pando::schedule
