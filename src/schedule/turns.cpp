#include "schedule/turns.h"

#include <algorithm>
#include <cmath>

namespace pando::schedule {

namespace {

// What a rank does next depends on itself and on when a certain message comes: so ranks may be looked at in any order.
class Writer {
 public:
  Writer(const Problem& problem, const Turns& turns)
      : p_(problem),
        turns_(turns),
        ranks_(static_cast<std::size_t>(problem.shape.ranks)),
        microbatches_(static_cast<std::size_t>(problem.shape.microbatches)),
        forward_(ranks_, std::vector<double>(microbatches_, kNever)),
        gradient_(forward_),
        state_(ranks_) {}

  std::optional<Table> run() {
    for (std::size_t r = 0; r < ranks_; ++r) {
      const double first = turns_.last + turns_.slope * static_cast<double>(ranks_ - 1 - r);
      state_[r].first = std::min(microbatches_, static_cast<std::size_t>(std::max(1.0, first + 1e-9)));
      state_[r].limit = (p_.memory.size() == 1 ? p_.memory[0] : p_.memory[r]) + 1e-9;
    }
    for (bool any = true; any;) {
      any = false;
      for (std::size_t r = 0; r < ranks_; ++r) {
        while (step(r)) any = true;
      }
    }
    Table t;
    for (Rank& rank : state_) {
      if (rank.weights < microbatches_) return std::nullopt;
      t.ranks.push_back(std::move(rank.row));
    }
    return t;
  }

 private:
  struct Rank {
    double now = 0, idle = 0, held = 0, limit = 0;
    std::size_t first = 0, forwards = 0, gradients = 0, weights = 0;
    std::vector<Cell> row;
  };

  // Whether something was done.
  bool step(std::size_t r) {
    Rank& rank = state_[r];
    if (rank.weights == microbatches_) return false;
    const Action next = next_of(rank);
    if (next == Action::weight_gradient) {
      take(r, next);
      return true;
    }
    const double there = next == Action::forward ? forward_comes(r) : gradient_comes(r);
    if (there == kNever) return false;
    fill(r, there);
    if (there > rank.now) {
      if (!rank.row.empty()) rank.idle += there - rank.now;
      rank.now = there;
    }
    take(r, next);
    return true;
  }

  Action next_of(const Rank& rank) const {
    if (rank.forwards < microbatches_ && rank.forwards < rank.first + rank.gradients) {
      if (rank.held + 1 <= rank.limit) return Action::forward;
      if (rank.weights < rank.gradients) return Action::weight_gradient;
    }
    return rank.gradients < microbatches_ ? Action::input_gradient : Action::weight_gradient;
  }
  double forward_comes(std::size_t r) const { return r == 0 ? 0 : forward_[r - 1][state_[r].forwards] + p_.costs.transfer; }
  double gradient_comes(std::size_t r) const {
    const std::size_t m = state_[r].gradients;
    return r + 1 == ranks_ ? forward_[r][m] : std::max(forward_[r][m], gradient_[r + 1][m] + p_.costs.transfer);
  }

  void fill(std::size_t r, double there) {
    Rank& rank = state_[r];
    const bool hurries = microbatches_ - rank.gradients <= turns_.hurry;
    while (rank.weights < rank.gradients && there > rank.now) {
      const double gap = there - rank.now;
      if (hurries && gap < cost(r, Action::weight_gradient)) return;
      if (gap < turns_.fill * cost(r, Action::weight_gradient) && rank.idle + gap <= turns_.idle) return;
      take(r, Action::weight_gradient);
    }
  }

  double cost(std::size_t r, Action action) const { return p_.costs.of({static_cast<std::int32_t>(r), 0, action}); }

  void take(std::size_t r, Action action) {
    Rank& rank = state_[r];
    rank.now += cost(r, action);
    std::size_t& done = action == Action::forward ? rank.forwards : action == Action::input_gradient ? rank.gradients : rank.weights;
    rank.row.push_back({static_cast<std::int32_t>(r), static_cast<std::int32_t>(done), action});
    if (action == Action::forward) forward_[r][done] = rank.now, rank.held += 1;
    if (action == Action::input_gradient) gradient_[r][done] = rank.now, rank.held -= p_.released;
    if (action == Action::weight_gradient) rank.held -= 1 - p_.released;
    ++done;
  }

  const Problem& p_;
  const Turns& turns_;
  std::size_t ranks_, microbatches_;
  // By rank and microbatch: when a pass has ended.
  std::vector<std::vector<double>> forward_, gradient_;
  std::vector<Rank> state_;
};

}  // namespace

std::optional<Table> in_turns(const Problem& problem, const Turns& turns) {
  if (problem.shape.stages_per_rank != 1 || !problem.split_backward) return std::nullopt;
  return Writer(problem, turns).run();
}

std::vector<Turns> turns_for(const Problem& problem) {
  std::vector<Turns> all;
  if (problem.shape.stages_per_rank != 1 || !problem.split_backward) return all;
  double weight = 0;
  for (double w : problem.costs.weight_gradient) weight = std::max(weight, w);
  for (int tenths = 8; tenths <= 26; ++tenths) {
    for (const double last : {1.0, 2.0}) {
      for (const double fill : {0.3, 1.0}) {
        for (const double idle : {0.0, 1.0, 2.0, 5.0}) {
          for (const std::size_t hurry : {0, 1, 3}) all.push_back({last, 0.1 * tenths, fill, idle * weight, hurry});
        }
        all.push_back({last, 0.1 * tenths, fill, kNever});
      }
    }
  }
  return all;
}

}  // namespace pando::schedule
