#include "schedule/schedule_row.h"

namespace pando::schedule {

extern const ScheduleRow schedule_zb_h2;
constexpr ScheduleRow schedule_zb_h2 = checked({
    .name = "ZB-H2",
    .doc = "I and W apart, with up to 2 p - 1 microbatches held.",
    .source = "Qi et al., ICLR 2024",
    .position = 6,
    .stages_per_rank = 1,
    .splits_backward = true,
    .make = [](const Shape& s) { return made_within(s, false, 2 * s.ranks, true); },
});

}  // namespace pando::schedule
