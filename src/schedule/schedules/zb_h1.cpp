#include "schedule/building/interleaving.h"
#include "schedule/schedule_row.h"

namespace pando::schedule {

extern const ScheduleRow schedule_zb_h1;
constexpr ScheduleRow schedule_zb_h1 = checked({
    .name = "ZB-H1",
    .doc = "I and W apart: weight gradients fill what later ranks leave free. Holds p microbatches.",
    .source = "Qi et al., ICLR 2024",
    .position = 5,
    .stages_per_rank = 1,
    .splits_backward = true,
    .make = interleaved_zero_bubble,
});

}  // namespace pando::schedule
