#include "schedule/patterns.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pando::schedule {

namespace {

constexpr std::int32_t kPeriod = kPatternPeriod;

// When microbatch 0 has its passes on a rank: of the stage on the way down (0) and back (1).
struct Slots {
  std::array<std::int32_t, 2> forward, gradient, weight;
};

std::int32_t residue(std::int32_t t) { return t % kPeriod; }

// False if two passes fall into one slot.
bool place(const Problem& problem, const Pattern& p, std::int32_t rank, Slots& s) {
  const std::int32_t last = problem.shape.ranks - 1;
  const std::int32_t length = problem.split_backward ? 1 : 2;
  s.forward[0] = p.down * rank;
  s.forward[1] = p.down * last + p.turn + p.up * (last - rank);
  const std::int32_t top = p.down * last + p.turn + p.up * last;  // the last stage's forward pass, on rank 0
  // A whole backward pass takes two slots: neighbours are one further apart.
  s.gradient[1] = top + 1 + (p.gradient_down + length - 1) * rank;
  s.gradient[0] =
      top + 1 + (p.gradient_down + length - 1) * last + p.gradient_turn + length - 1 + (p.gradient_up + length - 1) * (last - rank);
  std::array<bool, kPeriod> taken{};
  const auto take = [&](std::int32_t t) { return !std::exchange(taken[static_cast<std::size_t>(residue(t))], true); };
  for (int c = 0; c < 2; ++c) {
    if (!take(s.forward[c]) || !take(s.gradient[c])) return false;
    if (length == 2 && !take(s.gradient[c] + 1)) return false;
  }
  if (length == 2) return true;
  // Weight gradients fill what is left, the one that comes first as soon as it can.
  const int first = s.gradient[1] < s.gradient[0] ? 1 : 0;
  for (const int c : {first, 1 - first}) {
    std::int32_t t = s.gradient[c] + 1;
    while (taken[static_cast<std::size_t>(residue(t))]) ++t;
    take(t);
    s.weight[c] = t;
  }
  return true;
}

}  // namespace

std::vector<std::array<std::int32_t, 6>> slots_of(const Problem& problem, const Pattern& pattern) {
  std::vector<std::array<std::int32_t, 6>> all;
  for (std::int32_t r = 0; r < problem.shape.ranks; ++r) {
    Slots s{};
    if (!place(problem, pattern, r, s)) return {};
    all.push_back({s.forward[0], s.gradient[0], s.weight[0], s.forward[1], s.gradient[1], s.weight[1]});
  }
  return all;
}

Table table_of(const Problem& problem, const Pattern& pattern, std::int32_t microbatches) {
  Table t;
  for (std::int32_t r = 0; r < problem.shape.ranks; ++r) {
    Slots s{};
    if (!place(problem, pattern, r, s)) return {};
    std::vector<std::pair<std::int32_t, Cell>> timed;
    const std::array<std::int32_t, 2> stage = {r, 2 * problem.shape.ranks - 1 - r};
    for (std::int32_t m = 0; m < microbatches; ++m) {
      for (std::size_t c = 0; c < 2; ++c) {
        timed.push_back({s.forward[c] + kPeriod * m, {stage[c], m, Action::forward, false}});
        timed.push_back(
            {s.gradient[c] + kPeriod * m, {stage[c], m, problem.split_backward ? Action::input_gradient : Action::backward, false}});
        if (problem.split_backward) timed.push_back({s.weight[c] + kPeriod * m, {stage[c], m, Action::weight_gradient, false}});
      }
    }
    std::sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    t.ranks.emplace_back();
    for (const auto& [time, cell] : timed) t.ranks.back().push_back(cell);
  }
  return t;
}

std::vector<Pattern> patterns(const Problem& problem) {
  constexpr std::int32_t kFarthest = 6;
  std::vector<Pattern> all;
  std::array<std::int32_t, 6> d;
  for (std::int32_t code = 0; code < kFarthest * kFarthest * kFarthest * kFarthest * kFarthest * kFarthest; ++code) {
    for (std::size_t i = 0, rest = static_cast<std::size_t>(code); i < 6; ++i, rest /= kFarthest)
      d[i] = static_cast<std::int32_t>(rest % kFarthest) + 1;
    const Pattern p{d[0], d[1], d[2], d[3], d[4], d[5]};
    bool fits = true;
    for (std::int32_t r = 0; fits && r < problem.shape.ranks; ++r) {
      Slots s{};
      fits = place(problem, p, r, s);
    }
    if (fits) all.push_back(p);
  }
  return all;
}

}  // namespace pando::schedule
