// The order in which ranks with several stages take microbatches.
#pragma once

#include "base/error.h"
#include "schedule/schedule_row.h"

#include <algorithm>

namespace pando::schedule {

// The k-th forward (backward) pass of a rank with several stages: a round takes some microbatches through its stages one after another.
struct Interleaving {
  Shape shape;
  std::int32_t round = 0;

  explicit Interleaving(const Shape& s) : shape(s) {
    // One stage a rank: nothing is interleaved.
    const std::int32_t rounds = s.stages_per_rank == 1 ? 1 : std::max(1, s.microbatches / s.ranks);
    if (s.microbatches % rounds != 0) {
      fail(ErrorKind::poplar_error, "schedule-shape",
           "{} microbatches do not divide into {} rounds; interleaved stages take them in rounds of equal size", s.microbatches, rounds);
    }
    round = s.microbatches / rounds;
  }
  std::int32_t total() const { return shape.microbatches * shape.stages_per_rank; }
  std::int32_t microbatch(std::int32_t k) const { return k / (round * shape.stages_per_rank) * round + k % round; }
  std::int32_t forward_stage(std::int32_t rank, std::int32_t k) const { return k / round % shape.stages_per_rank * shape.ranks + rank; }
  std::int32_t backward_stage(std::int32_t rank, std::int32_t k) const {
    return (shape.stages_per_rank - 1 - k / round % shape.stages_per_rank) * shape.ranks + rank;
  }
};

// Rank r keeps r weight gradients back: they fill what later ranks' input gradients leave free.
Table interleaved_zero_bubble(const Shape& shape);

}  // namespace pando::schedule
