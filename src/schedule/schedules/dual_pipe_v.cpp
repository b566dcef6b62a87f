#include "schedule/building/v_row.h"
#include "schedule/schedule_row.h"

namespace pando::schedule {

namespace {

Table dual_pipe_v(const Shape& s) {
  need_many("DualPipeV", s);
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    VRow v(s, r);
    const std::int32_t after = s.ranks - r - 1;
    for (std::int32_t i = 0; i < 2 * after; ++i) v.forward(0);
    for (std::int32_t i = 0; i <= r; ++i) v.forward(0), v.forward(1);
    for (std::int32_t i = 0; i < after; ++i) v.input(1), v.weight(), v.forward(1);
    for (std::int32_t i = 0; i < s.microbatches - 2 * s.ranks + r + 1; ++i) {
      if (i == 0 && r == s.ranks - 1) {
        // The turn of the V: the first backward pass waits for the forward pass before it, so they cannot overlap.
        v.forward(0), v.backward(1);
      } else {
        v.overlap(0, 1);
      }
      v.overlap(1, 0);
    }
    for (std::int32_t i = 0; i < after; ++i) v.backward(1), v.overlap(1, 0);
    // From the middle on, weight gradients are left for the end.
    const std::int32_t middle = (r + 1) / 2;
    for (std::int32_t i = 0; i <= r; ++i) {
      const bool apart_1 = i > middle || (i == middle && r % 2 == 1), apart_0 = i >= middle;
      apart_1 ? v.input(1) : v.backward(1);
      apart_0 ? v.input(0) : v.backward(0);
    }
    for (std::int32_t i = 0; i < after; ++i) v.weight(), v.input(0);
    while (v.has_weight(0) || v.has_weight(1)) v.weight();
    t.ranks.push_back(std::move(v.row.cells));
  }
  return t;
}

}  // namespace

extern const ScheduleRow schedule_dual_pipe_v;
constexpr ScheduleRow schedule_dual_pipe_v = checked({
    .name = "DualPipeV",
    .doc = "Stages in a V; forward and backward of two microbatches run side by side.",
    .source = "DeepSeek 2025",
    .position = 12,
    .stages_per_rank = 2,
    .in_a_v = true,
    .splits_backward = true,
    .make = dual_pipe_v,
});

}  // namespace pando::schedule
