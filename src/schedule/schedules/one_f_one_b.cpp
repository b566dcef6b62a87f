#include "schedule/building/one_by_one.h"
#include "schedule/schedule_row.h"

namespace pando::schedule {

extern const ScheduleRow schedule_one_f_one_b;
constexpr ScheduleRow schedule_one_f_one_b = checked({
    .name = "1F1B",
    .doc = "Rank r of p begins with p - r forward passes; then a backward and a forward pass in turns.",
    .source = "PipeDream-flush, Megatron-LM",
    .position = 1,
    .stages_per_rank = 1,
    .make = [](const Shape& s) { return one_forward_one_backward(s, [](std::int32_t r, std::int32_t p) { return p - r; }); },
});

}  // namespace pando::schedule
