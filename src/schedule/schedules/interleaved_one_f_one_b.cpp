#include "schedule/building/interleaving.h"
#include "schedule/building/row.h"
#include "schedule/schedule_row.h"

namespace pando::schedule {

namespace {

Table interleaved(const Shape& s) {
  const Interleaving in(s);
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    Row row;
    const std::int32_t warm = std::min(in.total(), (s.stages_per_rank - 1) * in.round + 2 * (s.ranks - 1 - r));
    for (std::int32_t k = 0; k < warm; ++k) row.add(Action::forward, in.forward_stage(r, k), in.microbatch(k));
    for (std::int32_t k = 0; k < in.total(); ++k) {
      if (warm + k < in.total()) row.add(Action::forward, in.forward_stage(r, warm + k), in.microbatch(warm + k));
      row.add(Action::backward, in.backward_stage(r, k), in.microbatch(k));
    }
    t.ranks.push_back(std::move(row.cells));
  }
  return t;
}

}  // namespace

extern const ScheduleRow schedule_interleaved_one_f_one_b;
constexpr ScheduleRow schedule_interleaved_one_f_one_b = checked({
    .name = "Interleaved1F1B",
    .doc = "1F1B over several stages a rank: stage s lies on rank s mod p.",
    .source = "Narayanan et al., SC 2021",
    .position = 3,
    .stages_per_rank = 0,
    .make = interleaved,
});

}  // namespace pando::schedule
