#include "schedule/replay.h"

#include "base/check.h"
#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pando::schedule {

namespace {

double at(const std::vector<double>& of_stage, std::int32_t stage) {
  return of_stage.size() == 1 ? of_stage[0] : of_stage[static_cast<std::size_t>(stage)];
}

// Runs the rows as far as dependences allow.
class Player {
 public:
  Player(const Table& table, const Costs& costs)
      : table_(table),
        costs_(costs),
        stages_(table.stages()),
        microbatches_(table.microbatches()),
        forward_(size(), kNever),
        gradient_(size(), kNever),
        rank_of_(static_cast<std::size_t>(stages_), -1),
        waiting_(2 * size(), -1) {
    for (std::size_t r = 0; r < table.ranks.size(); ++r) {
      for (const Cell& c : table.ranks[r]) {
        if (computes(c.action)) rank_of_[static_cast<std::size_t>(c.stage)] = static_cast<std::int32_t>(r);
      }
    }
  }

  // Whether all cells ran. `on_cell(rank, position, start, end)`.
  template <class F>
  bool run(F on_cell) {
    const std::size_t ranks = table_.ranks.size();
    next_.assign(ranks, 0);
    free_.assign(ranks, 0);
    std::vector<std::int32_t> ready(ranks);
    for (std::size_t r = 0; r < ranks; ++r) ready[r] = static_cast<std::int32_t>(ranks - 1 - r);
    while (!ready.empty()) {
      const std::int32_t r = ready.back();
      ready.pop_back();
      advance(r, ready, on_cell);
    }
    for (std::size_t r = 0; r < ranks; ++r) {
      if (next_[r] < table_.ranks[r].size()) return false;
    }
    return true;
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(stages_) * static_cast<std::size_t>(microbatches_); }
  std::size_t index(std::int32_t stage, std::int32_t microbatch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches_) + static_cast<std::size_t>(microbatch);
  }

  // When what the cell needs is there; kNever and `missing` (an index into waiting_) if it has not run.
  double available(std::int32_t rank, const Cell& c, std::size_t& missing) const {
    double time = 0;
    const auto need = [&](const std::vector<double>& done, std::int32_t stage, std::size_t offset) {
      const std::size_t i = index(stage, c.microbatch);
      if (done[i] == kNever) {
        missing = i + offset;
        time = kNever;
        return;
      }
      const bool far = rank_of_[static_cast<std::size_t>(stage)] != rank;
      time = std::max(time, done[i] + (far ? costs_.transfer : 0));
    };
    if (c.action == Action::forward) {
      if (c.stage > 0) need(forward_, c.stage - 1, 0);
    } else if (is_backward(c.action)) {
      need(forward_, c.stage, 0);
      if (c.stage + 1 < stages_) need(gradient_, c.stage + 1, size());
    } else if (c.action == Action::weight_gradient) {
      need(gradient_, c.stage, size());
    }
    return time;
  }

  void finish(const Cell& c, double end, std::vector<std::int32_t>& ready) {
    std::size_t done = 0;
    if (c.action == Action::forward) {
      done = index(c.stage, c.microbatch);
      forward_[done] = end;
    } else if (is_backward(c.action)) {
      done = index(c.stage, c.microbatch);
      gradient_[done] = end;
      done += size();
    } else {
      return;
    }
    if (waiting_[done] >= 0) ready.push_back(waiting_[done]);
    waiting_[done] = -1;
  }

  template <class F>
  void advance(std::int32_t r, std::vector<std::int32_t>& ready, F& on_cell) {
    const auto& row = table_.ranks[static_cast<std::size_t>(r)];
    std::size_t& next = next_[static_cast<std::size_t>(r)];
    double& time = free_[static_cast<std::size_t>(r)];
    for (; next < row.size(); ++next) {
      const Cell& c = row[next];
      if (!computes(c.action)) continue;
      std::size_t missing = 0;
      const double there = available(r, c, missing);
      if (there == kNever) {
        waiting_[missing] = r;
        return;
      }
      const double start = std::max(time, there);
      time = start + costs_.of(c);
      on_cell(static_cast<std::size_t>(r), next, start, time);
      finish(c, time, ready);
    }
  }

  const Table& table_;
  const Costs& costs_;
  std::int32_t stages_, microbatches_;
  std::vector<double> forward_, gradient_;
  std::vector<std::int32_t> rank_of_;
  // By what is missing: the rank that waits for it. Stages are on one rank, so there is one at the most.
  std::vector<std::int32_t> waiting_;
  std::vector<std::size_t> next_;
  std::vector<double> free_;
};

// How far the rows come, whatever they cost. A rank waits for one thing at a time, and what is made of a stage's microbatch one other rank
// waits
// for at the most: that of the stage behind or before it.
class Order {
 public:
  Order(const Table& table, std::int32_t stages, std::int32_t microbatches, const std::vector<std::int32_t>& rank_of)
      : table_(table),
        stages_(stages),
        microbatches_(microbatches),
        rank_of_(rank_of),
        done_(static_cast<std::size_t>(stages) * static_cast<std::size_t>(microbatches), 0),
        next_(table.ranks.size(), 0),
        missing_(table.ranks.size()) {}

  // Whether all cells ran.
  bool run() {
    for (std::size_t r = table_.ranks.size(); r-- > 0;) ready_.push_back(static_cast<std::int32_t>(r));
    while (!ready_.empty()) {
      const auto r = static_cast<std::size_t>(ready_.back());
      ready_.pop_back();
      advance(r);
    }
    for (std::size_t r = 0; r < next_.size(); ++r) {
      if (next_[r] < table_.ranks[r].size()) return false;
    }
    return true;
  }
  std::size_t position(std::size_t rank) const { return next_[rank]; }

 private:
  enum : std::uint8_t { kForwardDone = 1, kGradientDone = 2 };
  struct Missing {
    std::int32_t stage = -1, microbatch = 0;
    std::uint8_t what = 0;
  };

  std::uint8_t& done(std::int32_t stage, std::int32_t microbatch) {
    return done_[static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches_) + static_cast<std::size_t>(microbatch)];
  }

  // Its own forward pass, and I before W, stand before it in the row: what is missing is another stage's.
  bool is_there(const Cell& c, Missing& missing) {
    if (c.action == Action::forward) {
      if (c.stage == 0 || (done(c.stage - 1, c.microbatch) & kForwardDone)) return true;
      missing = {c.stage - 1, c.microbatch, kForwardDone};
      return false;
    }
    if (!is_backward(c.action) || c.stage + 1 == stages_ || (done(c.stage + 1, c.microbatch) & kGradientDone)) return true;
    missing = {c.stage + 1, c.microbatch, kGradientDone};
    return false;
  }

  void wake(std::int32_t stage, const Cell& made, std::uint8_t what) {
    if (stage < 0 || stage >= stages_) return;
    const std::int32_t rank = rank_of_[static_cast<std::size_t>(stage)];
    Missing& m = missing_[static_cast<std::size_t>(rank)];
    if (m.stage != made.stage || m.microbatch != made.microbatch || m.what != what) return;
    m.stage = -1;
    ready_.push_back(rank);
  }

  void advance(std::size_t r) {
    const auto& row = table_.ranks[r];
    std::size_t& next = next_[r];
    for (; next < row.size(); ++next) {
      const Cell& c = row[next];
      if (!computes(c.action)) continue;
      if (!is_there(c, missing_[r])) return;
      if (c.action == Action::forward) {
        done(c.stage, c.microbatch) |= kForwardDone;
        wake(c.stage + 1, c, kForwardDone);
      } else if (is_backward(c.action)) {
        done(c.stage, c.microbatch) |= kGradientDone;
        wake(c.stage - 1, c, kGradientDone);
      }
    }
  }

  const Table& table_;
  std::int32_t stages_, microbatches_;
  const std::vector<std::int32_t>& rank_of_;
  std::vector<std::uint8_t> done_;
  std::vector<std::size_t> next_;
  std::vector<Missing> missing_;
  std::vector<std::int32_t> ready_;
};

// What a microbatch has gone through on a stage.
enum : std::uint8_t { kForward = 1, kInput = 2, kWeight = 4, kWhole = 8 };

// `rank_of`: by stage, -1; filled.
std::optional<Broken> rows_broken(const Table& table, std::int32_t stages, std::int32_t microbatches, std::vector<std::int32_t>& rank_of) {
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(stages) * static_cast<std::size_t>(microbatches), 0);
  for (std::size_t r = 0; r < table.ranks.size(); ++r) {
    const auto& row = table.ranks[r];
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Cell& c = row[i];
      const auto broken = [&](std::string rule, std::string message) {
        return Broken{std::move(rule), fmt::format("rank {}, cell {} '{}': {}", r, i + 1, to_string(c), message),
                      static_cast<std::int32_t>(r), static_cast<std::int32_t>(i)};
      };
      if (c.with_next && (i + 1 == row.size() || !computes(c.action) || !computes(row[i + 1].action))) {
        return broken("overlap", "it overlaps with nothing");
      }
      if (!computes(c.action)) continue;
      std::int32_t& home = rank_of[static_cast<std::size_t>(c.stage)];
      if (home >= 0 && home != static_cast<std::int32_t>(r)) {
        return broken("stage-on-two-ranks", fmt::format("stage {} is on rank {}, too", c.stage, home));
      }
      home = static_cast<std::int32_t>(r);
      std::uint8_t& s =
          seen[static_cast<std::size_t>(c.stage) * static_cast<std::size_t>(microbatches) + static_cast<std::size_t>(c.microbatch)];
      const std::uint8_t bit = c.action == Action::forward           ? kForward
                               : c.action == Action::input_gradient  ? kInput
                               : c.action == Action::weight_gradient ? kWeight
                                                                     : kWhole;
      if (s & bit) return broken("cell-twice", "it stands in the row twice");
      if (bit != kForward && !(s & kForward)) return broken("order", "a backward pass without its forward pass before it");
      if (bit == kWeight && !(s & kInput)) return broken("order", "W without its I before it");
      if ((bit == kWhole && (s & (kInput | kWeight))) || (bit != kWhole && bit != kForward && (s & kWhole))) {
        return broken("backward-mixed", "B beside I or W of the same microbatch");
      }
      s |= bit;
    }
  }
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    for (std::int32_t m = 0; m < microbatches; ++m) {
      const std::uint8_t s = seen[static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches) + static_cast<std::size_t>(m)];
      const char* missing = !(s & kForward)  ? "F"
                            : (s & kWhole)   ? nullptr
                            : !(s & kInput)  ? "B (or I and W)"
                            : !(s & kWeight) ? "W"
                                             : nullptr;
      if (missing == nullptr) continue;
      const std::int32_t rank = rank_of[static_cast<std::size_t>(stage)];
      const std::string where = rank < 0 ? "on no rank" : fmt::format("rank {}", rank);
      return Broken{"cell-missing", fmt::format("stage {} ({}) has no {} of microbatch {}", stage, where, missing, m), std::max(rank, 0),
                    0};
    }
  }
  return std::nullopt;
}

}  // namespace

// Activations held by a rank: from F on, a share to I, the rest to W; to B, all of it.
std::vector<double> peaks(const Table& table, double released) {
  std::vector<double> all;
  for (const auto& row : table.ranks) {
    std::vector<bool> of_rank(static_cast<std::size_t>(table.stages()), false);
    double chunks = 0, held = 0, most = 0;
    for (const Cell& c : row) {
      if (!computes(c.action)) continue;
      if (!of_rank[static_cast<std::size_t>(c.stage)]) ++chunks;
      of_rank[static_cast<std::size_t>(c.stage)] = true;
      if (c.action == Action::forward) held += 1;
      if (c.action == Action::input_gradient) held -= released;
      if (c.action == Action::weight_gradient) held -= 1 - released;
      if (c.action == Action::backward) held -= 1;
      most = std::max(most, held);
    }
    all.push_back(chunks > 0 ? most / chunks : 0);
  }
  return all;
}

double Costs::of(const Cell& cell) const {
  switch (cell.action) {
    case Action::forward: return at(forward, cell.stage);
    case Action::input_gradient: return at(input_gradient, cell.stage);
    case Action::weight_gradient: return at(weight_gradient, cell.stage);
    case Action::backward: return at(input_gradient, cell.stage) + at(weight_gradient, cell.stage);
    default: return 0;
  }
}

void check_costs(const Table& table, const Costs& costs) {
  const auto stages = static_cast<std::size_t>(table.stages());
  const auto check = [](const char* what, double c) {
    if (!(c >= 0) || !std::isfinite(c))
      fail(ErrorKind::poplar_error, "schedule-costs", "{} costs {}; a cost is a finite number of 0 or more", what, c);
  };
  for (const auto& [what, of_stage] :
       {std::pair{"F", &costs.forward}, std::pair{"I", &costs.input_gradient}, std::pair{"W", &costs.weight_gradient}}) {
    if (of_stage->size() != 1 && of_stage->size() != stages)
      fail(ErrorKind::poplar_error, "schedule-costs", "{} costs of {} for {} stages; give one, or one for each", of_stage->size(), what,
           stages);
    for (double c : *of_stage) check(what, c);
  }
  check("a transfer", costs.transfer);
  // No time of a schedule is longer than all its cells and transfers one behind the other; what is summed over ranks has as many of them.
  double sum = 0;
  for (const auto& row : table.ranks) {
    for (const Cell& c : row) sum += costs.of(c) + costs.transfer;
  }
  if (!std::isfinite(sum * static_cast<double>(table.ranks.size() + 1)))
    fail(ErrorKind::poplar_error, "schedule-costs", "the costs of {} cells add up to more than a number can hold; give smaller ones",
         table.cells());
}

std::optional<Broken> first_broken_rule(const Table& table) {
  const std::int32_t stages = table.stages(), microbatches = table.microbatches();
  if (stages == 0) return Broken{"no-cells", "the table has no passes", 0, 0};
  std::vector<std::int32_t> rank_of(static_cast<std::size_t>(stages), -1);
  if (auto broken = rows_broken(table, stages, microbatches, rank_of)) return broken;
  Order order(table, stages, microbatches, rank_of);
  if (order.run()) return std::nullopt;
  std::string message = "no rank can go on:";
  std::optional<Broken> first;
  for (std::size_t r = 0; r < table.ranks.size(); ++r) {
    const std::size_t i = order.position(r);
    if (i >= table.ranks[r].size()) continue;
    message += fmt::format(" rank {} waits at cell {} '{}';", r, i + 1, to_string(table.ranks[r][i]));
    if (!first) first = Broken{"deadlock", {}, static_cast<std::int32_t>(r), static_cast<std::int32_t>(i)};
  }
  message.pop_back();
  first->message = message;
  return first;
}

std::optional<Timing> try_replay(const Table& table, const Costs& costs) {
  Timing t;
  t.start.resize(table.ranks.size());
  for (std::size_t r = 0; r < table.ranks.size(); ++r) t.start[r].assign(table.ranks[r].size(), 0);
  std::vector<double> first(table.ranks.size(), kNever), last(table.ranks.size(), 0), busy(table.ranks.size(), 0);
  Player player(table, costs);
  const bool done = player.run([&](std::size_t r, std::size_t i, double start, double end) {
    t.start[r][i] = start;
    first[r] = std::min(first[r], start);
    last[r] = std::max(last[r], end);
    busy[r] += costs.of(table.ranks[r][i]);
  });
  if (!done) return std::nullopt;
  double most_busy = 0;
  for (std::size_t r = 0; r < table.ranks.size(); ++r) {
    if (first[r] == kNever) continue;
    t.makespan = std::max(t.makespan, last[r]);
    t.span = std::max(t.span, last[r] - first[r]);
    t.ends += last[r];
    most_busy = std::max(most_busy, busy[r]);
  }
  t.bubble = t.span > 0 ? 1 - most_busy / t.span : 0;
  t.peak = peaks(table, 0);
  t.peak_half = peaks(table, 0.5);
  return t;
}

Timing replay(const Table& table, const Costs& costs) {
  check_costs(table, costs);
  auto t = try_replay(table, costs);
  PANDO_CHECK(t.has_value());
  return std::move(*t);
}

}  // namespace pando::schedule
