#include "schedule/generate.h"

#include "base/error.h"
#include "base/text/counted.h"
#include "schedule/synthesised.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace pando::schedule {

#define X(schedule) extern const ScheduleRow schedule_##schedule;
#include "schedule_manifest.inc"
#undef X

std::span<const ScheduleRow* const> schedule_table() {
  static const std::vector<const ScheduleRow*> rows = [] {
    std::vector<const ScheduleRow*> all = {
#define X(schedule) &schedule_##schedule,
#include "schedule_manifest.inc"
#undef X
    };
    std::sort(all.begin(), all.end(), [](const ScheduleRow* a, const ScheduleRow* b) { return a->position < b->position; });
    return all;
  }();
  return rows;
}

const ScheduleRow& schedule_named(std::string_view name) {
  for (const ScheduleRow* row : schedule_table()) {
    if (row->name == name) return *row;
  }
  std::string known;
  for (const std::string& n : names()) known += (known.empty() ? "" : ", ") + n;
  fail(ErrorKind::poplar_error, "schedule-name", "there is no schedule named '{}'; there are {}, and synthesised:MEMORY", name, known);
}

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const ScheduleRow* row : schedule_table()) list.emplace_back(row->name);
    return list;
  }();
  return all;
}

namespace {

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

}  // namespace

// Limits in microbatches of a rank, as the papers give them for rank numbers from 0.
Table made_within(const Shape& s, bool in_a_v, double limit, bool split) {
  Problem p;
  p.shape = s;
  p.in_a_v = in_a_v;
  p.split_backward = split;
  p.memory = {limit};
  return of_problem(fmt::format("limit {} {} {}", in_a_v, limit, split), p);
}

std::int32_t stages_per_rank_of(std::string_view name) {
  if (!is_synthesised(name)) return schedule_named(name).stages_per_rank;
  return is_synthesised_in_a_v(name) ? 2 : 0;
}
bool is_in_a_v(std::string_view name) { return is_synthesised(name) ? is_synthesised_in_a_v(name) : schedule_named(name).in_a_v; }
bool splits_backward(std::string_view name) { return is_synthesised(name) || schedule_named(name).splits_backward; }

void check_shape(const Shape& shape) {
  if (shape.ranks < 1 || shape.microbatches < 1 || shape.stages_per_rank < 1) {
    fail(ErrorKind::poplar_error, "schedule-shape", "{} ranks, {} microbatches, {} stages a rank: each must be at least 1", shape.ranks,
         shape.microbatches, shape.stages_per_rank);
  }
  if (static_cast<double>(shape.ranks) * shape.microbatches * shape.stages_per_rank > 5e8) {
    fail(ErrorKind::poplar_error, "schedule-shape", "{} ranks with {} each and {} microbatches: too many cells for a host", shape.ranks,
         counted(shape.stages_per_rank, "stage"), shape.microbatches);
  }
}

Table generate(std::string_view name, const Shape& shape) {
  check_shape(shape);
  if (is_synthesised(name)) return of_problem(std::string(name), problem_of(name, shape));
  const ScheduleRow& n = schedule_named(name);
  if (n.stages_per_rank != 0 && n.stages_per_rank != shape.stages_per_rank) {
    fail(ErrorKind::poplar_error, "schedule-shape", "{} has {} a rank, not {}", name, counted(n.stages_per_rank, "stage"),
         shape.stages_per_rank);
  }
  return n.make(shape);
}

}  // namespace pando::schedule
