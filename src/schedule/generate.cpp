#include "schedule/generate.h"

#include "base/error.h"
#include "schedule/synthesised.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

namespace pando::schedule {

namespace {

Cell cell(Action action, std::int32_t stage, std::int32_t microbatch) { return {stage, microbatch, action, false}; }

// One rank's row while it is written.
class Row {
 public:
  void add(Action action, std::int32_t stage, std::int32_t microbatch) { cells.push_back(cell(action, stage, microbatch)); }
  std::vector<Cell> cells;
};

Table gpipe(const Shape& s) {
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    Row row;
    for (std::int32_t m = 0; m < s.microbatches; ++m) row.add(Action::forward, r, m);
    for (std::int32_t m = 0; m < s.microbatches; ++m) row.add(Action::backward, r, m);
    t.ranks.push_back(std::move(row.cells));
  }
  return t;
}

Table looped_bfs(const Shape& s) {
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    Row row;
    for (std::int32_t v = 0; v < s.stages_per_rank; ++v) {
      for (std::int32_t m = 0; m < s.microbatches; ++m) row.add(Action::forward, r + v * s.ranks, m);
    }
    for (std::int32_t v = s.stages_per_rank; v-- > 0;) {
      for (std::int32_t m = s.microbatches; m-- > 0;) row.add(Action::backward, r + v * s.ranks, m);
    }
    t.ranks.push_back(std::move(row.cells));
  }
  return t;
}

// `warm` forward passes, then a backward and a forward pass in turns.
Table one_forward_one_backward(const Shape& s, bool eager) {
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    Row row;
    const std::int32_t warm = std::min(s.microbatches, eager ? 2 * (s.ranks - r) - 1 : s.ranks - r);
    for (std::int32_t m = 0; m < warm; ++m) row.add(Action::forward, r, m);
    for (std::int32_t m = 0; m < s.microbatches; ++m) {
      row.add(Action::backward, r, m);
      if (warm + m < s.microbatches) row.add(Action::forward, r, warm + m);
    }
    t.ranks.push_back(std::move(row.cells));
  }
  return t;
}

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

// Rank r keeps r weight gradients back: they fill what later ranks' input gradients leave free.
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

void need_many(std::string_view name, const Shape& s) {
  if (s.microbatches < 2 * s.ranks) {
    fail(ErrorKind::poplar_error, "schedule-shape", "{} needs at least {} microbatches on {} ranks, {} were given", name, 2 * s.ranks,
         s.ranks, s.microbatches);
  }
}

Table zbv(const Shape& s) {
  need_many("ZBV", s);
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    VRow v(s, r);
    for (std::int32_t i = 0; i < 2 * (s.ranks - r) - 1; ++i) v.forward(0);
    for (std::int32_t i = 0; i < r; ++i) v.forward(1), v.forward(0);
    for (std::int32_t i = 0; i < s.ranks - r; ++i) v.forward(1), v.input(1), v.weight(1);
    while (v.forwards[1] < s.microbatches) {
      if (v.forwards[0] < s.microbatches) v.forward(0);
      v.input(0), v.weight(0);
      v.forward(1);
      v.input(1), v.weight(1);
    }
    for (std::int32_t i = 0; i < r; ++i) v.input(0), v.input(1);
    for (std::int32_t i = 0; i < s.ranks - r; ++i) v.input(0), v.weight(0);
    while (v.has_weight(1)) v.weight(1);
    while (v.has_weight(0)) v.weight(0);
    t.ranks.push_back(std::move(v.row.cells));
  }
  return t;
}

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

// Those that were found stay: a search for a strategy asks for one again and again.
Table of_problem(const std::string& name, const Problem& problem) {
  constexpr std::size_t kMost = 256;
  constexpr std::int64_t kLargest = 20'000;
  static std::mutex mutex;
  static std::map<std::string, Table> known;
  const Shape& s = problem.shape;
  const std::string key = fmt::format("{} {} {} {}", name, s.ranks, s.microbatches, s.stages_per_rank);
  {
    const std::lock_guard lock(mutex);
    if (const auto it = known.find(key); it != known.end()) return it->second;
  }
  Table t = synthesise(problem);
  const std::lock_guard lock(mutex);
  if (known.size() < kMost && t.cells() <= kLargest) known.emplace(key, t);
  return t;
}

// Limits in microbatches of a rank, as the papers give them for rank numbers from 0.
Table of_limit(const Shape& s, bool in_a_v, double limit, bool split) {
  Problem p;
  p.shape = s;
  p.in_a_v = in_a_v;
  p.split_backward = split;
  p.memory = {limit};
  return of_problem(fmt::format("limit {} {} {}", in_a_v, limit, split), p);
}

struct Named {
  std::string_view name;
  std::int32_t stages_per_rank;  // 0: any
  Table (*make)(const Shape&);
};

const Named kNamed[] = {
    {"GPipe", 1, gpipe},
    {"1F1B", 1, [](const Shape& s) { return one_forward_one_backward(s, false); }},
    {"eager-1F1B", 1, [](const Shape& s) { return one_forward_one_backward(s, true); }},
    {"Interleaved1F1B", 0, interleaved},
    {"LoopedBFS", 0, looped_bfs},
    {"ZB-H1", 1, interleaved_zero_bubble},
    {"ZB-H2", 1, [](const Shape& s) { return of_limit(s, false, 2 * s.ranks, true); }},
    {"InterleavedZeroBubble", 0, interleaved_zero_bubble},
    {"ZBV", 2, zbv},
    {"V-Half", 2, [](const Shape& s) { return of_limit(s, true, s.ranks / 2 + 1, true); }},
    {"V-Min", 2, [](const Shape& s) { return of_limit(s, true, (s.ranks + 2) / 3, true); }},
    {"V-1F1B", 2, [](const Shape& s) { return of_limit(s, true, s.ranks - 1, false); }},
    {"DualPipeV", 2, dual_pipe_v},
};

}  // namespace

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const Named& n : kNamed) list.emplace_back(n.name);
    return list;
  }();
  return all;
}

namespace {

const Named& named(std::string_view name) {
  for (const Named& n : kNamed) {
    if (n.name == name) return n;
  }
  std::string known;
  for (const std::string& n : names()) known += (known.empty() ? "" : ", ") + n;
  fail(ErrorKind::poplar_error, "schedule-name", "there is no schedule named '{}'; there are {}, and synthesised:MEMORY", name, known);
}

}  // namespace

std::int32_t stages_per_rank_of(std::string_view name) {
  if (!is_synthesised(name)) return named(name).stages_per_rank;
  return is_synthesised_in_a_v(name) ? 2 : 0;
}
bool is_in_a_v(std::string_view name) { return stages_per_rank_of(name) == 2; }

void check_shape(const Shape& shape) {
  if (shape.ranks < 1 || shape.microbatches < 1 || shape.stages_per_rank < 1) {
    fail(ErrorKind::poplar_error, "schedule-shape", "{} ranks, {} microbatches, {} stages a rank: each must be at least 1", shape.ranks,
         shape.microbatches, shape.stages_per_rank);
  }
  if (static_cast<double>(shape.ranks) * shape.microbatches * shape.stages_per_rank > 5e8) {
    fail(ErrorKind::poplar_error, "schedule-shape", "{} ranks of {} stages and {} microbatches: too many cells for a host", shape.ranks,
         shape.stages_per_rank, shape.microbatches);
  }
}

Table generate(std::string_view name, const Shape& shape) {
  check_shape(shape);
  if (is_synthesised(name)) return of_problem(std::string(name), problem_of(name, shape));
  const Named& n = named(name);
  if (n.stages_per_rank != 0 && n.stages_per_rank != shape.stages_per_rank) {
    fail(ErrorKind::poplar_error, "schedule-shape", "{} has {} stages a rank, {} were asked for", name, n.stages_per_rank,
         shape.stages_per_rank);
  }
  return n.make(shape);
}

}  // namespace pando::schedule
