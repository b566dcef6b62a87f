// What a search finds, of transformers and of programs alike.
//
// E: an estimate, with `seconds` and `memory_bytes()`.
#pragma once

#include "transform/distribute/layout/strategy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pando::search {

template <class E>
struct FoundOf {
  transform::Strategy strategy;
  E estimate;
  // In the order of the space.
  std::int64_t index = -1;
  // Words that make strategies of the same time and memory, which have no row of their own.
  std::vector<std::string> equals;

  // What decides which is better: time, then memory, then the order of the space.
  using Rank = std::tuple<double, double, std::int64_t>;
  Rank rank() const { return {estimate.seconds, estimate.memory_bytes(), index}; }
  // In both time and memory.
  static bool beats(const Rank& a, const Rank& b) {
    const auto& [seconds, bytes, index] = a;
    if (seconds == std::get<0>(b) && bytes == std::get<1>(b)) return index < std::get<2>(b);
    return seconds <= std::get<0>(b) && bytes <= std::get<1>(b);
  }
};

struct Certificate {
  // points = evaluated + by_rule + by_memory + by_time, unless the search was stopped. Of the evaluated ones, `too_large` did not fit.
  std::int64_t points = 0, evaluated = 0, too_large = 0, by_rule = 0, by_memory = 0, by_time = 0;
  // Somebody stopped the search: the bound counts what was not looked at, too.
  bool stopped = false;
  std::int64_t not_seen() const { return points - evaluated - by_rule - by_memory - by_time; }
  // Seconds: of the best, and the least that any point which was not evaluated can have.
  double best = 0, bound = 0;
  double gap() const { return bound >= best || bound == 0 ? 0 : best / bound - 1; }
};
std::string to_text(const Certificate& certificate);

// Why a strategy cannot be: which rule, and what was found.
struct Violation {
  std::string rule, message;
  explicit operator bool() const { return !rule.empty(); }
};

// Points against a rule, and what one of them breaks it with.
struct BrokenRule {
  std::int64_t points = 0;
  std::string example;
};

struct SearchOptions {
  std::size_t top = 1;
  // Where points are folded, the search ends when the best is proven: those after it are the best of the points that were looked at until
  // then.
  bool proves_only_the_best = false;
  bool frontier = false;
  // Evaluates every point: what the search is compared with.
  bool brute_force = false;
  // Where somebody stops the search (base/process/stop.h), what was found so far is the result; otherwise Stopped is thrown.
  bool keeps_when_stopped = false;
  std::function<void(const Certificate&)> progress;
};

template <class E>
struct ResultOf {
  using Found = FoundOf<E>;
  // The best first, `top` of them; empty if nothing fits.
  std::vector<Found> best;
  // Points that no other point beats in both time and memory, by memory; only where it was asked for.
  std::vector<Found> frontier;
  Certificate certificate;
  // By rule.
  std::map<std::string, BrokenRule> rules;
  // Of a transformer, where nothing fits: the point that needs least memory of those that are seen.
  std::optional<Found> least;
  // Of a step; 0: it has none.
  std::int64_t samples = 0;
  // How many points were estimated from fewer layers and microbatches, and which layers are equal: from, and up to without.
  std::int64_t folded = 0;
  std::uint32_t equal_from = 0, equal_to = 0;

  // Whether two points are one row: the first of them in the order of the space. Null: none are.
  bool (*are_equal)(const transform::Strategy&, const E&, const transform::Strategy&, const E&) = nullptr;

  // Most points are not kept, and not copied.
  void keep(const transform::Strategy& s, E e, std::int64_t index, std::size_t top, bool with_frontier) {
    const typename Found::Rank rank{e.seconds, e.memory_bytes(), index};
    if (with_frontier && std::ranges::none_of(frontier, [&](const Found& a) { return Found::beats(a.rank(), rank); })) {
      std::erase_if(frontier, [&](const Found& b) { return Found::beats(rank, b.rank()); });
      frontier.push_back({s, e, index});
    }
    if (are_equal != nullptr) {
      const auto as_quick = std::ranges::equal_range(best, e.seconds, {}, [](const Found& f) { return f.estimate.seconds; });
      const auto row = std::ranges::find_if(as_quick, [&](const Found& f) { return are_equal(f.strategy, f.estimate, s, e); });
      if (row != as_quick.end()) {
        if (index < row->index) row->strategy = s, row->index = index;
        return;
      }
    }
    if (best.size() == top && rank >= best.back().rank()) return;
    best.insert(std::ranges::upper_bound(best, rank, {}, &Found::rank), {s, std::move(e), index});
    if (best.size() > top) best.pop_back();
  }
  // What a point has to be below to be among the best.
  double worst_kept(std::size_t top) const {
    return best.size() < top ? std::numeric_limits<double>::infinity() : best.back().estimate.seconds;
  }
  void against(const std::string& rule, const std::string& message, std::int64_t points) {
    certificate.by_rule += points;
    BrokenRule& broken = rules[rule];
    if (broken.points == 0) broken.example = message;
    broken.points += points;
  }
  void slower(double seconds, std::int64_t points) {
    certificate.by_time += points;
    certificate.bound = std::min(certificate.bound, seconds);
  }
};

}  // namespace pando::search
