// Rows of ranks that have two stages in a V.
#pragma once

#include "base/error.h"
#include "schedule/building/row.h"
#include "schedule/schedule_row.h"

#include <algorithm>
#include <deque>
#include <string_view>

namespace pando::schedule {

// Counts what a rank of a V has done of its two stages: chunk 0 on the way down, chunk 1 on the way back.
class VRow {
 public:
  VRow(const Shape& s, std::int32_t rank) : stage_{rank, 2 * s.ranks - 1 - rank} {}
  void forward(int chunk) { row.add(Action::forward, stage_[chunk], forwards[chunk]++); }
  void backward(int chunk) { row.add(Action::backward, stage_[chunk], gradients[chunk]++); }
  void input(int chunk) {
    weights_.push_back(cell(Action::weight_gradient, stage_[chunk], gradients[chunk]));
    row.add(Action::input_gradient, stage_[chunk], gradients[chunk]++);
  }
  // The oldest weight gradient; of a chunk, the oldest of it.
  void weight(int chunk = -1) {
    const auto it = std::find_if(weights_.begin(), weights_.end(), [&](const Cell& c) { return chunk < 0 || c.stage == stage_[chunk]; });
    if (it == weights_.end()) return;
    row.cells.push_back(*it);
    weights_.erase(it);
  }
  void overlap(int forward_chunk, int backward_chunk) {
    forward(forward_chunk);
    row.cells.back().with_next = true;
    backward(backward_chunk);
  }
  bool has_weight(int chunk) const {
    return std::any_of(weights_.begin(), weights_.end(), [&](const Cell& c) { return c.stage == stage_[chunk]; });
  }

  Row row;
  std::int32_t forwards[2] = {0, 0}, gradients[2] = {0, 0};

 private:
  std::int32_t stage_[2];
  std::deque<Cell> weights_;
};

// Rejects (poplar_error) fewer than two microbatches a rank.
inline void need_many(std::string_view name, const Shape& s) {
  if (s.microbatches < 2 * s.ranks) {
    fail(ErrorKind::poplar_error, "schedule-shape", "{} needs at least {} microbatches on {} ranks, {} were given", name, 2 * s.ranks,
         s.ranks, s.microbatches);
  }
}

}  // namespace pando::schedule
