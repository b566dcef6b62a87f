#include "schedule/building/interleaving.h"
#include "schedule/schedule_row.h"

namespace pando::schedule {

extern const ScheduleRow schedule_interleaved_zero_bubble;
constexpr ScheduleRow schedule_interleaved_zero_bubble = checked({
    .name = "InterleavedZeroBubble",
    .doc = "ZB-H1's rule for interleaved stages.",
    .source = "Qi et al., ICLR 2024",
    .position = 7,
    .stages_per_rank = 0,
    .splits_backward = true,
    .make = interleaved_zero_bubble,
});

}  // namespace pando::schedule
