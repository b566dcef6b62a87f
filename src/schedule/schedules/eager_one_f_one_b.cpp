#include "schedule/building/one_by_one.h"
#include "schedule/schedule_row.h"

namespace pando::schedule {

extern const ScheduleRow schedule_eager_one_f_one_b;
constexpr ScheduleRow schedule_eager_one_f_one_b = checked({
    .name = "eager-1F1B",
    .doc = "1F1B that begins with 2 (p - r) - 1 forward passes.",
    .source = "DistIR's PipeDream scheduler, Alpa",
    .position = 2,
    .stages_per_rank = 1,
    .make = [](const Shape& s) { return one_forward_one_backward(s, [](std::int32_t r, std::int32_t p) { return 2 * (p - r) - 1; }); },
});

}  // namespace pando::schedule
