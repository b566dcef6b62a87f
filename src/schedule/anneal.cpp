#include "schedule/anneal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pando::schedule {

namespace {

// What the end of the ranks counts beside the span, and where heat begins and ends, in mean costs of a cell.
constexpr double kEnds = 0.08, kHot = 0.5, kCold = 0.02;
constexpr std::size_t kFarthest = 8;

// A table as numbers: replaying it is all that takes time.
class Board {
 public:
  Board(const Problem& problem, const Table& table)
      : microbatches_(static_cast<std::size_t>(table.microbatches())),
        stages_(static_cast<std::size_t>(table.stages())),
        rows_(table.ranks.size()),
        next_(table.ranks.size()),
        time_(table.ranks.size()),
        first_(table.ranks.size()) {
    std::vector<std::size_t> rank_of(stages_, 0);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (const Cell& c : table.ranks[r]) rank_of[static_cast<std::size_t>(c.stage)] = r;
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double limit = problem.memory.size() == 1 ? problem.memory[0] : problem.memory[r];
      limits_.push_back(limit * problem.shape.stages_per_rank + 1e-9);
      for (const Cell& c : table.ranks[r]) {
        if (c.action != Action::idle) rows_[r].push_back(pass(problem, c, rank_of));
      }
    }
    done_.resize(2 * stages_ * microbatches_);
  }

  std::vector<std::vector<Cell>> cells() const {
    std::vector<std::vector<Cell>> all(rows_.size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (const Pass& p : rows_[r]) all[r].push_back(p.cell);
    }
    return all;
  }

  std::size_t ranks() const { return rows_.size(); }
  std::size_t length(std::size_t rank) const { return rows_[rank].size(); }
  double mean_cost() const {
    double sum = 0, n = 0;
    for (const auto& row : rows_) {
      for (const Pass& p : row) sum += p.cost, n += 1;
    }
    return n > 0 ? sum / n : 0;
  }

  // False where an order that must be would change: of passes of one kind on a stage, and of one microbatch.
  bool may_move(std::size_t rank, std::size_t from, std::size_t to) const {
    const auto& row = rows_[rank];
    const Cell& c = row[from].cell;
    const auto bound = [&](const Pass& p) {
      return p.cell.stage == c.stage && (p.cell.microbatch == c.microbatch || p.cell.action == c.action);
    };
    const auto at = [&](std::size_t i) { return row.begin() + static_cast<std::ptrdiff_t>(i); };
    return from < to ? std::none_of(at(from + 1), at(to + 1), bound) : std::none_of(at(to), at(from), bound);
  }
  void move(std::size_t rank, std::size_t from, std::size_t to) {
    auto& row = rows_[rank];
    const auto at = [&](std::size_t i) { return row.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from < to)
      std::rotate(at(from), at(from + 1), at(to + 1));
    else
      std::rotate(at(to), at(from), at(from + 1));
  }
  bool is_within(std::size_t rank) const {
    double held = 0;
    for (const Pass& p : rows_[rank]) {
      held += p.holds;
      if (held > limits_[rank]) return false;
    }
    return true;
  }

  struct Length {
    double span = kNever, energy = kNever;
  };
  // kNever: it does not come to an end.
  Length replay() {
    std::fill(done_.begin(), done_.end(), -1.0);
    std::fill(next_.begin(), next_.end(), 0);
    std::fill(time_.begin(), time_.end(), 0.0);
    std::fill(first_.begin(), first_.end(), -1.0);
    for (bool any = true; any;) {
      any = false;
      for (std::size_t r = 0; r < rows_.size(); ++r) any = advance(r) || any;
    }
    Length l{0, 0};
    double ends = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (next_[r] < rows_[r].size()) return {};
      l.span = std::max(l.span, time_[r] - std::max(0.0, first_[r]));
      ends += time_[r];
    }
    l.energy = l.span + kEnds * ends / static_cast<double>(rows_.size());
    return l;
  }

 private:
  static constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();
  struct Pass {
    Cell cell;
    double cost = 0, holds = 0, transfer = 0;
    // What it needs and what it makes, in done_.
    std::size_t own = kNothing, other = kNothing, makes = kNothing;
  };

  Pass pass(const Problem& problem, const Cell& c, const std::vector<std::size_t>& rank_of) const {
    Pass p;
    p.cell = c;
    p.cost = problem.costs.of(c);
    const auto stage = static_cast<std::size_t>(c.stage);
    const std::size_t here = stage * microbatches_ + static_cast<std::size_t>(c.microbatch), gradients = stages_ * microbatches_;
    if (c.action == Action::forward) {
      p.holds = 1;
      p.makes = here;
      if (stage > 0) p.other = here - microbatches_;
    } else if (is_backward(c.action)) {
      p.own = here;
      p.makes = here + gradients;
      if (stage + 1 < stages_) p.other = here + microbatches_ + gradients;
    }
    if (c.action == Action::backward) p.holds = -1;
    if (c.action == Action::input_gradient) p.holds = -problem.released;
    if (c.action == Action::weight_gradient) p.holds = problem.released - 1;
    const std::size_t neighbour = c.action == Action::forward ? stage - 1 : stage + 1;
    if (p.other != kNothing && rank_of[neighbour] != rank_of[stage]) p.transfer = problem.costs.transfer;
    return p;
  }

  // As far as it comes. Whether that is anywhere.
  bool advance(std::size_t r) {
    const auto& row = rows_[r];
    const std::size_t begin = next_[r];
    for (; next_[r] < row.size(); ++next_[r]) {
      const Pass& p = row[next_[r]];
      double start = time_[r];
      if (p.own != kNothing) {
        if (done_[p.own] < 0) break;
        start = std::max(start, done_[p.own]);
      }
      if (p.other != kNothing) {
        if (done_[p.other] < 0) break;
        start = std::max(start, done_[p.other] + p.transfer);
      }
      if (first_[r] < 0) first_[r] = start;
      time_[r] = start + p.cost;
      if (p.makes != kNothing) done_[p.makes] = time_[r];
    }
    return next_[r] > begin;
  }

  std::size_t microbatches_, stages_;
  std::vector<std::vector<Pass>> rows_;
  std::vector<double> limits_, done_;
  std::vector<std::size_t> next_;
  std::vector<double> time_, first_;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 7919 + 1) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  double fraction() { return static_cast<double>(next()) / 2147483648.0; }

 private:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  std::uint64_t state_;
};

}  // namespace

Table anneal(const Problem& problem, const Table& start, std::int64_t moves, std::uint64_t seed) {
  Board board(problem, start);
  Random random(seed);
  Board::Length now = board.replay();
  double shortest = now.span;
  Table best = start;
  const double unit = board.mean_cost();
  for (std::int64_t i = 0; i < moves; ++i) {
    const double heat = unit * (kHot * (1 - static_cast<double>(i) / static_cast<double>(moves)) + kCold);
    const std::size_t rank = random.below(board.ranks());
    const std::size_t n = board.length(rank);
    if (n == 0) continue;
    const std::size_t from = random.below(n), far = 1 + random.below(kFarthest);
    const std::size_t to = random.below(2) ? std::min(n - 1, from + far) : from - std::min(from, far);
    if (from == to || !board.may_move(rank, from, to)) continue;
    board.move(rank, from, to);
    const Board::Length then = board.is_within(rank) ? board.replay() : Board::Length{};
    const bool keep =
        then.energy <= now.energy || (then.energy != kNever && std::exp((now.energy - then.energy) / heat) > random.fraction());
    if (!keep) {
      board.move(rank, to, from);
      continue;
    }
    now = then;
    if (now.span < shortest) shortest = now.span, best.ranks = board.cells();
  }
  return best;
}

}  // namespace pando::schedule
