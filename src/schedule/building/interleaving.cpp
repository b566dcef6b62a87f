#include "schedule/building/interleaving.h"

#include "schedule/building/row.h"

namespace pando::schedule {

Table interleaved_zero_bubble(const Shape& s) {
  const Interleaving in(s);
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    Row row;
    const std::int32_t warm = std::min(in.total(), (s.stages_per_rank - 1) * in.round + (s.ranks - 1 - r));
    for (std::int32_t k = 0; k < warm; ++k) row.add(Action::forward, in.forward_stage(r, k), in.microbatch(k));
    std::int32_t weights = 0;
    const auto weight = [&] {
      row.add(Action::weight_gradient, in.backward_stage(r, weights), in.microbatch(weights));
      ++weights;
    };
    for (std::int32_t k = 0; k < in.total(); ++k) {
      if (warm + k < in.total()) row.add(Action::forward, in.forward_stage(r, warm + k), in.microbatch(warm + k));
      row.add(Action::input_gradient, in.backward_stage(r, k), in.microbatch(k));
      if (k >= r) weight();
    }
    while (weights < in.total()) weight();
    t.ranks.push_back(std::move(row.cells));
  }
  return t;
}

}  // namespace pando::schedule
