// List scheduling (beside schedules with names): whenever a rank is free, it takes the best of what is there by a preference. Several
// preferences are tried.
#include "base/error.h"
#include "base/text/counted.h"
#include "schedule/anneal.h"
#include "schedule/patterns.h"
#include "schedule/turns.h"

#include <algorithm>
#include <deque>
#include <queue>

namespace pando::schedule {

namespace {

struct Preference {
  // 0: a backward pass before a forward one; 1: the other way round; 2: in turns.
  int direction = 0;
  // A rank's later stages before its earlier ones, in forward passes.
  bool deep_first = true;
  // 0: weight gradients when nothing else is there; 1: also at once behind their input gradient while another rank is filled;
  // 2: when memory is needed or nothing else is there, but not where an arrival that is known comes before they would end.
  int weights = 0;
  // Activations of its first stage that rank r holds at the most: `first` - r x `slope`, at least one. Early passes that nobody waits for
  // take memory from those that others wait for.
  double first = 1e9, slope = 0;
  // Not empty: what comes first in a repeating pattern is preferred (slots_of of patterns.h).
  std::vector<std::array<std::int32_t, 6>> slots;
};

class Scheduler {
 public:
  Scheduler(const Problem& problem, const Preference& preference)
      : p_(problem),
        how_(preference),
        ranks_(problem.shape.ranks),
        chunks_(problem.shape.stages_per_rank),
        stages_(ranks_ * chunks_),
        microbatches_(problem.shape.microbatches) {}

  // Empty if it got stuck.
  std::optional<Table> run() {
    const auto size = static_cast<std::size_t>(stages_) * static_cast<std::size_t>(microbatches_);
    forward_.assign(size, kNever);
    gradient_.assign(size, kNever);
    state_.resize(static_cast<std::size_t>(ranks_));
    for (std::int32_t r = 0; r < ranks_; ++r) {
      Rank& rank = state_[static_cast<std::size_t>(r)];
      rank.next_forward.assign(static_cast<std::size_t>(chunks_), 0);
      rank.next_gradient.assign(static_cast<std::size_t>(chunks_), 0);
      const double limit = p_.memory.size() == 1 ? p_.memory[0] : p_.memory[static_cast<std::size_t>(r)];
      rank.limit = limit * chunks_ + 1e-9;
      wake(0, r);
    }
    while (!events_.empty()) {
      const Event e = events_.top();
      events_.pop();
      Rank& rank = state_[static_cast<std::size_t>(e.rank)];
      if (e.time < rank.free || rank.awake == e.time) continue;
      rank.awake = e.time;
      act(e.rank, rank, e.time);
    }
    Table t;
    for (Rank& rank : state_) {
      if (static_cast<std::int64_t>(rank.row.size()) != rank_cells()) return std::nullopt;
      t.ranks.push_back(std::move(rank.row));
    }
    return t;
  }

 private:
  struct Rank {
    double free = 0, awake = -1, limit = 0, held = 0, held_first = 0;
    bool forward_next = true;
    std::vector<std::int32_t> next_forward, next_gradient;
    std::deque<Cell> weights;
    std::vector<Cell> row;
  };
  struct Event {
    double time;
    std::int32_t rank;
    bool operator<(const Event& o) const { return time != o.time ? time > o.time : rank > o.rank; }
  };
  struct Choice {
    Cell cell;
    double there = kNever;
  };

  std::int64_t rank_cells() const { return static_cast<std::int64_t>(chunks_) * microbatches_ * (p_.split_backward ? 3 : 2); }
  std::size_t index(std::int32_t stage, std::int32_t m) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(microbatches_) + static_cast<std::size_t>(m);
  }
  std::int32_t rank_of(std::int32_t stage) const {
    if (!p_.in_a_v) return stage % ranks_;
    return stage < ranks_ ? stage : 2 * ranks_ - 1 - stage;
  }
  std::int32_t stage_of(std::int32_t rank, std::int32_t chunk) const {
    return p_.in_a_v && chunk == 1 ? 2 * ranks_ - 1 - rank : chunk * ranks_ + rank;
  }
  void wake(double time, std::int32_t rank) { events_.push({time, rank}); }

  // When a stage's result is there for a rank.
  double arrival(const std::vector<double>& done, std::int32_t stage, std::int32_t m, std::int32_t rank) const {
    return done[index(stage, m)] + (rank_of(stage) != rank ? p_.costs.transfer : 0);
  }

  // The forward pass to take; `when`: the earliest that is known to come.
  Choice forward(std::int32_t r, const Rank& rank, double now, double& when) const {
    Choice best;
    for (std::int32_t i = 0; i < chunks_; ++i) {
      const std::int32_t c = how_.deep_first ? chunks_ - 1 - i : i;
      const std::int32_t m = rank.next_forward[static_cast<std::size_t>(c)];
      if (m >= microbatches_) continue;
      // Each later stage of the rank keeps room for one activation: what begins can end.
      if (rank.held + 1 > rank.limit - (chunks_ - 1 - c)) continue;
      if (c == 0 && rank.held_first + 1 > std::max(1.0, how_.first - r * how_.slope)) continue;
      const std::int32_t stage = stage_of(r, c);
      const double there = stage == 0 ? 0 : arrival(forward_, stage - 1, m, r);
      if (there > now) {
        when = std::min(when, there);
      } else if (best.there == kNever) {
        best = {{stage, m, Action::forward, false}, there};
      }
    }
    return best;
  }

  Choice backward(std::int32_t r, const Rank& rank, double now, double& when) const {
    Choice best;
    for (std::int32_t c = 0; c < chunks_; ++c) {
      const std::int32_t m = rank.next_gradient[static_cast<std::size_t>(c)];
      if (m >= microbatches_) continue;
      const std::int32_t stage = stage_of(r, c);
      double there = forward_[index(stage, m)];
      if (stage + 1 < stages_) there = std::max(there, arrival(gradient_, stage + 1, m, r));
      if (there == kNever) continue;
      if (there > now) {
        when = std::min(when, there);
      } else if (there < best.there) {
        best = {{stage, m, p_.split_backward ? Action::input_gradient : Action::backward, false}, there};
      }
    }
    return best;
  }

  void act(std::int32_t r, Rank& rank, double now) {
    if (!how_.slots.empty()) return act_by_pattern(r, rank, now);
    double when = kNever;
    const Choice f = forward(r, rank, now, when), b = backward(r, rank, now, when);
    const bool can_f = f.there != kNever, can_b = b.there != kNever;
    const bool full = rank.held + 1 > rank.limit - (chunks_ - 1);
    if (how_.weights == 1 && !rank.weights.empty() && rank.weights.size() > static_cast<std::size_t>(r)) return take_weight(r, rank, now);
    if (how_.weights == 2 && full && !rank.weights.empty()) return take_weight(r, rank, now);
    if (can_f && (how_.direction == 1 || !can_b || (how_.direction == 2 && rank.forward_next))) return take(r, rank, f.cell, now);
    if (can_b) return take(r, rank, b.cell, now);
    if (!rank.weights.empty()) {
      const double length = p_.costs.of(rank.weights.front());
      if (how_.weights != 2 || now + length <= when) return take_weight(r, rank, now);
    }
    if (when != kNever) wake(when, r);
  }

  // Of all that could run, what the pattern has first.
  void act_by_pattern(std::int32_t r, Rank& rank, double now) {
    double when = kNever;
    std::optional<Cell> best;
    std::int64_t best_slot = 0;
    const auto offer = [&](std::int32_t chunk, std::int32_t kind, const Cell& c, double there) {
      if (there == kNever) return;
      if (there > now) {
        when = std::min(when, there);
        return;
      }
      const std::int64_t slot =
          how_.slots[static_cast<std::size_t>(r)][static_cast<std::size_t>(3 * chunk + kind)] + std::int64_t{kPatternPeriod} * c.microbatch;
      if (best && slot >= best_slot) return;
      best = c;
      best_slot = slot;
    };
    for (std::int32_t c = 0; c < chunks_; ++c) {
      const std::int32_t stage = stage_of(r, c), f = rank.next_forward[static_cast<std::size_t>(c)],
                         g = rank.next_gradient[static_cast<std::size_t>(c)];
      if (f < microbatches_ && rank.held + 1 <= rank.limit - (chunks_ - 1 - c)) {
        offer(c, 0, {stage, f, Action::forward, false}, stage == 0 ? 0 : arrival(forward_, stage - 1, f, r));
      }
      if (g < microbatches_) {
        double there = forward_[index(stage, g)];
        if (stage + 1 < stages_) there = std::max(there, arrival(gradient_, stage + 1, g, r));
        offer(c, 1, {stage, g, p_.split_backward ? Action::input_gradient : Action::backward, false}, there);
      }
    }
    for (const Cell& w : rank.weights) offer(w.stage < ranks_ ? 0 : 1, 2, w, now);
    if (!best) {
      if (when != kNever) wake(when, r);
      return;
    }
    if (best->action == Action::weight_gradient) rank.weights.erase(std::find(rank.weights.begin(), rank.weights.end(), *best));
    take(r, rank, *best, now);
  }

  void take_weight(std::int32_t r, Rank& rank, double now) {
    const Cell c = rank.weights.front();
    rank.weights.pop_front();
    take(r, rank, c, now);
  }

  void take(std::int32_t r, Rank& rank, const Cell& c, double now) {
    const double end = now + p_.costs.of(c);
    rank.row.push_back(c);
    rank.free = end;
    const std::int32_t chunk = p_.in_a_v ? (c.stage < ranks_ ? 0 : 1) : c.stage / ranks_;
    if (c.action == Action::forward) {
      forward_[index(c.stage, c.microbatch)] = end;
      ++rank.next_forward[static_cast<std::size_t>(chunk)];
      rank.held += 1;
      rank.held_first += chunk == 0;
      rank.forward_next = false;
      if (c.stage + 1 < stages_) wake(end + transfer(r, c.stage + 1), rank_of(c.stage + 1));
    } else if (c.action == Action::weight_gradient) {
      rank.held -= 1;
      rank.held_first -= chunk == 0;
    } else {
      gradient_[index(c.stage, c.microbatch)] = end;
      ++rank.next_gradient[static_cast<std::size_t>(chunk)];
      rank.forward_next = true;
      if (c.action == Action::backward) {
        rank.held -= 1;
        rank.held_first -= chunk == 0;
      } else {
        rank.weights.push_back({c.stage, c.microbatch, Action::weight_gradient, false});
      }
      if (c.stage > 0) wake(end + transfer(r, c.stage - 1), rank_of(c.stage - 1));
    }
    wake(end, r);
  }
  double transfer(std::int32_t rank, std::int32_t stage) const { return rank_of(stage) != rank ? p_.costs.transfer : 0; }

  const Problem& p_;
  Preference how_;
  std::int32_t ranks_, chunks_, stages_, microbatches_;
  std::vector<double> forward_, gradient_;
  std::vector<Rank> state_;
  std::priority_queue<Event> events_;
};

void check_problem(const Problem& p) {
  const Shape& s = p.shape;
  check_shape(s);
  if (p.in_a_v && s.stages_per_rank != 2)
    fail(ErrorKind::poplar_error, "schedule-shape", "a V has two stages a rank, not {}", s.stages_per_rank);
  const auto stages = static_cast<std::size_t>(s.ranks) * static_cast<std::size_t>(s.stages_per_rank);
  double most = p.costs.transfer;
  for (const auto* costs : {&p.costs.forward, &p.costs.input_gradient, &p.costs.weight_gradient}) {
    if (costs->size() != 1 && costs->size() != stages)
      fail(ErrorKind::poplar_error, "schedule-costs", "{} for {}", counted(costs->size(), "cost"), counted(stages, "stage"));
    for (double c : *costs) {
      if (!(c >= 0) || c == kNever) fail(ErrorKind::poplar_error, "schedule-costs", "a cost of {}", c);
      most = std::max(most, c);
    }
  }
  if (!(p.costs.transfer >= 0) || p.costs.transfer == kNever)
    fail(ErrorKind::poplar_error, "schedule-costs", "a transfer costs {}; a finite number of 0 or more is expected", p.costs.transfer);
  // Three passes and their transfers, of each stage and microbatch, summed over ranks: times and their squares are compared.
  constexpr double kMost = 1e100;
  if (most > kMost)
    fail(ErrorKind::poplar_error, "schedule-costs", "a cost of {:g}; at most {:g}, so that sums of costs are numbers", most, kMost);
  if (p.memory.size() != 1 && p.memory.size() != static_cast<std::size_t>(s.ranks)) {
    fail(ErrorKind::poplar_error, "schedule-memory", "{} limits for {} ranks", p.memory.size(), s.ranks);
  }
  if (!(p.released >= 0 && p.released <= 1))
    fail(ErrorKind::poplar_error, "schedule-memory", "{} of an activation is released", p.released);
  for (double m : p.memory) {
    if (!(m * s.stages_per_rank >= s.stages_per_rank)) {
      fail(ErrorKind::poplar_error, "schedule-memory",
           "a limit of {} microbatches; a rank needs room for one activation of each stage ({}, together 1)", m,
           counted(s.stages_per_rank, "stage"));
    }
  }
}

}  // namespace

namespace {

bool within(const std::vector<double>& peak, const Problem& problem) {
  for (std::size_t r = 0; r < peak.size(); ++r) {
    if (peak[r] > (problem.memory.size() == 1 ? problem.memory[0] : problem.memory[r]) + 1e-9) return false;
  }
  return true;
}

// The best of what was tried: the shortest span, then the smallest peak, then the first.
struct Best {
  std::optional<Table> table;
  double span = kNever, peak = kNever;

  // Whether it is better; what does not hold to the limits never is.
  bool offer(Table t, const Problem& problem) {
    const Timing timing = replay(t, problem.costs);
    const std::vector<double> peak_of_rank = problem.released > 0 ? peaks(t, problem.released) : timing.peak;
    if (!within(peak_of_rank, problem)) return false;
    const double highest = *std::max_element(peak_of_rank.begin(), peak_of_rank.end());
    if (timing.span > span || (timing.span == span && highest >= peak)) return false;
    table = std::move(t);
    span = timing.span;
    peak = highest;
    return true;
  }
};

std::vector<Preference> preferences(const Problem& problem) {
  std::vector<std::pair<double, double>> caps{{1e9, 0}};
  const double most = *std::max_element(problem.memory.begin(), problem.memory.end()) * problem.shape.stages_per_rank;
  if (problem.shape.stages_per_rank > 1 && most <= 4 * problem.shape.ranks) {
    for (double first = 1; first <= most; first += 1) {
      for (const double slope : {0.0, 0.5, 1.0}) caps.emplace_back(first, slope);
    }
  }
  std::vector<Preference> all;
  for (const auto& [first, slope] : caps) {
    for (int direction = 0; direction < 3; ++direction) {
      for (const bool deep : {true, false}) {
        for (int weights = 0; weights < (problem.split_backward ? 3 : 1); ++weights)
          all.push_back({direction, deep, weights, first, slope, {}});
      }
    }
  }
  return all;
}

// Patterns are judged on a pipeline that is full for a while, not on all microbatches: as they stand, and as preferences of a list
// schedule.
void try_patterns(const Problem& problem, Best& best) {
  Problem small = problem;
  small.shape.microbatches = std::min(problem.shape.microbatches, 4 * problem.shape.ranks);
  Best on_few;
  std::optional<Pattern> chosen;
  bool as_preference = false;
  for (const Pattern& p : patterns(problem)) {
    if (on_few.offer(table_of(small, p, small.shape.microbatches), problem)) chosen = p, as_preference = false;
    Preference how;
    how.slots = slots_of(problem, p);
    auto t = Scheduler(small, how).run();
    if (t && on_few.offer(std::move(*t), problem)) chosen = p, as_preference = true;
  }
  if (!chosen) return;
  if (!as_preference) {
    best.offer(table_of(problem, *chosen, problem.shape.microbatches), problem);
    return;
  }
  Preference how;
  how.slots = slots_of(problem, *chosen);
  if (auto t = Scheduler(problem, how).run()) best.offer(std::move(*t), problem);
}

// Schedules with names that have the problem's shape. They were made for passes of equal cost, and are good for others, too.
std::vector<std::string_view> names_for(const Problem& problem) {
  const Shape& s = problem.shape;
  if (problem.in_a_v) {
    const bool fits = problem.split_backward && s.microbatches >= 2 * s.ranks;
    return fits ? std::vector<std::string_view>{"ZBV"} : std::vector<std::string_view>{};
  }
  const bool in_rounds = s.microbatches % std::max(1, s.microbatches / s.ranks) == 0;
  if (s.stages_per_rank > 1 && !in_rounds) return {};
  if (problem.split_backward) return {s.stages_per_rank > 1 ? "InterleavedZeroBubble" : "ZB-H1"};
  return {s.stages_per_rank > 1 ? "Interleaved1F1B" : "1F1B"};
}

double busiest_of(const Table& t, const Problem& problem) {
  double busiest = 0;
  for (const auto& row : t.ranks) {
    double busy = 0;
    for (const Cell& c : row) busy += problem.costs.of(c);
    busiest = std::max(busiest, busy);
  }
  return busiest;
}

// Of ranks with one stage: rank r has begun when the first microbatch goes on to rank q, which has its own passes to do, and is not done
// before the last gradient has come back.
double longest_way_of(const Problem& problem) {
  const std::int32_t ranks = problem.shape.ranks;
  if (problem.shape.stages_per_rank != 1) return 0;
  const auto cost = [&](std::int32_t rank, Action action) { return problem.costs.of({rank, 0, action}); };
  const Action back = problem.split_backward ? Action::input_gradient : Action::backward;
  double longest = 0;
  for (std::int32_t r = 0; r < ranks; ++r) {
    double way = problem.split_backward ? cost(r, Action::weight_gradient) : 0;
    for (std::int32_t q = r; q < ranks; ++q) {
      longest = std::max(longest, way + problem.shape.microbatches * (cost(q, Action::forward) + cost(q, back)));
      way += cost(q, Action::forward) + cost(q, back) + 2 * problem.costs.transfer;
    }
  }
  return longest;
}

// What no span is below, but for rounding.
double least_span_of(const Table& t, const Problem& problem) {
  return std::max(busiest_of(t, problem), longest_way_of(problem)) * (1 + 1e-12);
}

// The best of the list schedules and of those with names.
Best listed(const Problem& problem) {
  Best best;
  for (const Preference& how : preferences(problem)) {
    if (auto t = Scheduler(problem, how).run()) best.offer(std::move(*t), problem);
  }
  if (problem.in_a_v) try_patterns(problem, best);
  for (std::string_view name : names_for(problem)) best.offer(generate(name, problem.shape), problem);
  const double least = best.table ? least_span_of(*best.table, problem) : 0;
  for (const Turns& how : turns_for(problem)) {
    if (best.table && best.span <= least) break;
    if (auto t = in_turns(problem, how)) best.offer(std::move(*t), problem);
  }
  return best;
}

// I and W of each microbatch in one, where I stands.
Table merged(Table t) {
  for (auto& row : t.ranks) {
    std::erase_if(row, [](const Cell& c) { return c.action == Action::weight_gradient; });
    for (Cell& c : row) c.action = c.action == Action::input_gradient ? Action::backward : c.action;
  }
  return t;
}

// Annealed in rounds, until the last ones found nothing. `kBudget` counts cells that are replayed in a round: small tables are improved for
// long, large ones not at all. Whole backward passes begin as split ones, too: other orders are near those.
void improve(const Problem& problem, Best& best) {
  constexpr std::int64_t kBudget = 60'000'000, kFewest = 20'000;
  constexpr int kRounds = 8, kPatience = 4;
  const std::int64_t moves = kBudget / std::max<std::int64_t>(1, best.table->cells());
  const double least = least_span_of(*best.table, problem);
  if (moves < kFewest || best.span <= least) return;
  std::vector<Table> starts{*best.table};
  if (problem.in_a_v && !problem.split_backward) {
    Problem split = problem;
    split.split_backward = true;
    if (auto found = listed(split).table) starts.insert(starts.begin(), merged(std::move(*found)));
  }
  for (int round = 0, idle = 0; round < kRounds && idle < kPatience && best.span > least; ++round, ++idle) {
    const Table& start = starts[static_cast<std::size_t>(round) % starts.size()];
    const double before = best.span;
    best.offer(anneal(problem, start, moves, static_cast<std::uint64_t>(round)), problem);
    if (best.span < before) idle = -1;
  }
}

}  // namespace

Table synthesise(const Problem& problem) {
  check_problem(problem);
  Best best = listed(problem);
  if (best.table) improve(problem, best);
  if (!best.table) fail(ErrorKind::poplar_error, "schedule-memory", "under these limits no schedule comes to an end");
  return std::move(*best.table);
}

}  // namespace pando::schedule
