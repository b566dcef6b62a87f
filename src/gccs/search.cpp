#include "gccs/search.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <stdexcept>

namespace gccs::popsolver {

std::vector<std::size_t> order_of_groups(const std::vector<std::vector<std::size_t>>& before) {
  std::vector<std::size_t> waiting(before.size(), 0), place(before.size(), 0);
  for (const auto& later : before)
    for (std::size_t group : later) ++waiting[group];
  std::vector<char> placed(before.size(), 0);
  for (std::size_t n = 0; n < before.size(); ++n) {
    std::size_t group = 0;
    while (group < before.size() && (placed[group] || waiting[group] > 0)) ++group;
    if (group == before.size()) throw std::invalid_argument("each of some priority groups comes before the other");
    placed[group] = 1;
    place[group] = n;
    for (std::size_t later : before[group]) --waiting[later];
  }
  return place;
}

Search::Search(const Problem& problem) : problem_(problem), readers_(problem.ranges.size()), queued_(problem.constraints.size(), 0) {
  for (std::uint32_t c = 0; c < problem.constraints.size(); ++c) {
    const std::vector<std::uint32_t>& variables = problem.constraints[c].variables;
    // A call sets its result once and for all: it is asked again for its arguments alone.
    for (std::size_t i = problem.constraints[c].kind == Kind::call ? 1 : 0; i < variables.size(); ++i) {
      std::vector<std::uint32_t>& readers = readers_[variables[i]];
      if (readers.empty() || readers.back() != c) readers.push_back(c);
    }
  }
  std::vector<Range> ranges = problem.ranges;
  std::vector<std::uint32_t> all(ranges.size());
  std::iota(all.begin(), all.end(), 0u);
  if (narrow_all(ranges, all)) explore(std::move(ranges));
}

// Of the objectives, the first that differs is less than the best's.
bool Search::below_best(Narrowing& narrowing) {
  if (best_.empty()) return true;
  for (std::size_t i = 0; i < problem_.objectives.size(); ++i) {
    const std::uint32_t v = problem_.objectives[i];
    const bool last = i + 1 == problem_.objectives.size();
    if (last ? best_[v] == 0 || !narrowing.at_most(v, best_[v] - 1) : !narrowing.at_most(v, best_[v])) return false;
    if (narrowing[v].least < best_[v]) return true;
  }
  return !problem_.objectives.empty();
}

bool Search::narrow_all(std::vector<Range>& ranges, std::vector<std::uint32_t> changed) {
  Narrowing narrowing(ranges, changed);
  std::deque<std::uint32_t> queue;
  bool possible = below_best(narrowing);
  while (possible) {
    for (std::uint32_t v : changed)
      for (std::uint32_t c : readers_[v])
        if (!queued_[c]) queued_[c] = 1, queue.push_back(c);
    changed.clear();
    if (queue.empty()) break;
    const Constraint& c = problem_.constraints[queue.front()];
    queued_[queue.front()] = 0;
    queue.pop_front();
    ++evaluated_[static_cast<std::size_t>(c.kind)];
    possible = narrow(c, narrowing);
    if (possible && queue.empty()) possible = below_best(narrowing);
  }
  for (std::uint32_t c : queue) queued_[c] = 0;
  return possible;
}

// The first open variable of the lowest rank with the fewest values; none: the number of variables.
std::size_t Search::next_variable(const std::vector<Range>& ranges) const {
  std::size_t best = ranges.size();
  for (std::size_t v = 0; v < ranges.size(); ++v) {
    if (ranges[v].single()) continue;
    const auto width = [&](std::size_t i) { return std::pair(problem_.rank[i], ranges[i].greatest - ranges[i].least); };
    if (best == ranges.size() || width(v) < width(best)) best = v;
  }
  return best;
}

void Search::explore(std::vector<Range> ranges) {
  for (;;) {
    const std::size_t v = next_variable(ranges);
    if (v == ranges.size()) {
      best_.clear();
      for (const Range& r : ranges) best_.push_back(r.least);
      return;
    }
    const Value middle = ranges[v].least + (ranges[v].greatest - ranges[v].least) / 2;
    std::vector<Range> lower = ranges;
    lower[v].greatest = middle;
    if (narrow_all(lower, {static_cast<std::uint32_t>(v)})) explore(std::move(lower));
    ranges[v].least = middle + 1;
    if (!narrow_all(ranges, {static_cast<std::uint32_t>(v)})) return;
  }
}

}  // namespace gccs::popsolver
