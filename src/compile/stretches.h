// The elements of a view as stretches that lie on one shard with one stride. Private to the exchange planner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "compile/plan.h"
#include "graph/views/view.h"

namespace pando::compile {

// The longest stretch one move can describe, in elements.
constexpr std::uint64_t kLongestStretch = std::uint64_t{1} << 28;

struct Stretch {
  const ShardInterval* interval = nullptr;
  std::uint64_t element = 0;  // of the variable
  std::int64_t stride = 0;    // elements
  std::uint64_t count = 0;

  Address at(std::uint64_t width) const { return {interval->shard, interval->local + (element - interval->elements.begin) * width}; }
  std::int64_t step(std::uint64_t width) const { return stride * static_cast<std::int64_t>(width); }
};

// Walks the elements of runs in order.
class Cursor {
 public:
  Cursor(const Plan& plan, std::vector<graph::Run> runs) : plan_(plan), runs_(std::move(runs)) {}

  // The longest stretch at the current element, at most `limit` elements. Does not advance.
  Stretch peek(std::uint64_t limit) {
    const graph::Run& run = runs_[run_];
    const std::uint64_t element = run.offset + static_cast<std::uint64_t>(run.stride * static_cast<std::int64_t>(done_));
    find(run.variable, element);
    const std::uint64_t left = std::min(limit, run.count - done_);
    std::uint64_t fits = left;
    if (run.stride > 0)
      fits = (here_->elements.end - element + static_cast<std::uint64_t>(run.stride) - 1) / static_cast<std::uint64_t>(run.stride);
    else if (run.stride < 0)
      fits = (element - here_->elements.begin) / static_cast<std::uint64_t>(-run.stride) + 1;
    return {here_, element, run.stride, std::min(left, fits)};
  }
  void advance(std::uint64_t n) {
    done_ += n;
    if (done_ == runs_[run_].count) {
      ++run_;
      done_ = 0;
    }
  }
  bool done() const { return run_ == runs_.size(); }

 private:
  bool holds(std::uint64_t element) const { return element >= here_->elements.begin && element < here_->elements.end; }

  // Most steps stay on an interval or go on to the next one.
  void find(VariableId variable, std::uint64_t element) {
    if (here_ != nullptr && variable_ == variable) {
      if (holds(element)) return;
      if (here_ != &plan_.layout[variable].back() && (++here_, holds(element))) return;
    }
    here_ = &locate(plan_, variable, element);
    variable_ = variable;
  }

  const Plan& plan_;
  std::vector<graph::Run> runs_;
  std::size_t run_ = 0;
  std::uint64_t done_ = 0;
  const ShardInterval* here_ = nullptr;
  VariableId variable_;
};

}  // namespace pando::compile
