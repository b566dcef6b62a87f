// One search for every space of strategies: what it asks of points is an Estimator. There are two: the closed formula of a transformer's
// sizes (search.cpp), and programs that are made and simulated (programs/program_search.cpp).
//
// Groups of points, their parts and points have bounds of time and memory. The group with the least time comes next; what cannot beat the
// best so far, or cannot fit, is not looked into, and its points are counted.
//
// E: an estimate, with `seconds` and `memory_bytes()`.
#pragma once

#include "base/process/stop.h"
#include "search/found.h"
#include "transform/distribute/layout/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace pando::search {

// Points that share bounds.
struct PointGroup {
  // In the order of the space.
  std::int64_t first_index = 0, points = 0;
  // What none of them is below; bytes below 0: not asked yet.
  double seconds = 0, bytes = -1;
  // `seconds` is the closest bound there is.
  bool is_closest = true;
  // By which the estimator knows which points these are.
  std::size_t number = 0;
};

template <class E>
class Estimator {
 public:
  virtual ~Estimator() = default;

  // Bytes that a device may use.
  double limit() const { return limit_; }
  // What the strategy takes; or, instead, which rule it breaks.
  virtual Violation estimate(const transform::Strategy& s, E& e) = 0;
  virtual bool fits(const E& e) const { return e.memory_bytes() <= limit_; }
  // How many estimates came from fewer layers and microbatches.
  virtual std::int64_t folded() const { return 0; }
  // What no estimate of the strategy is below. As soon as seconds are above `enough`, closer ones are not asked for.
  virtual double least_seconds(const transform::Strategy&, double /*enough*/) { return 0; }
  virtual double least_bytes(const transform::Strategy&) { return 0; }

  // All points of the space, in its order, with bounds; counts them in the result. `bounded`: groups that break a rule are counted as such,
  // and left out.
  virtual std::vector<PointGroup> groups(ResultOf<E>& r, bool bounded) = 0;
  // A closer bound of the seconds; or which rule the group breaks.
  virtual Violation bound(PointGroup&) { return {}; }
  virtual double least_bytes_of(const PointGroup&) { return 0; }
  // Of a group that is looked into, once: its parts, with bounds of their own (`bounded`), and the points of a part, in their order.
  virtual std::vector<PointGroup> parts(const PointGroup& g, bool /*bounded*/) { return {g}; }
  virtual void each_point(const PointGroup& part, const std::function<void(const transform::Strategy&)>& f) = 0;
  // Where nothing fits: the point that needs least memory of those that are seen.
  virtual std::optional<FoundOf<E>> least(std::vector<PointGroup>&) { return std::nullopt; }

  // --- for people
  virtual std::string words(const transform::Strategy& s) const = 0;
  // Where other devices would not help against it, a violation is said before their number.
  virtual bool is_said_first(const Violation&) const { return true; }
  // What it lacks that does not fit; what one takes; where it is slower than the best.
  virtual std::string lack(const E& e) const = 0;
  virtual std::string taken(const E& e) const = 0;
  virtual std::string against(const transform::Strategy& s, const E& e, const E& best) const = 0;

 protected:
  explicit Estimator(double limit) : limit_(limit) {}
  const double limit_;
};

template <class E>
class Searcher {
 public:
  Searcher(Estimator<E>& estimator, const SearchOptions& options) : estimator_(estimator), options_(options) {}

  ResultOf<E> run() {
    std::vector<PointGroup> groups = estimator_.groups(r_, !options_.brute_force);
    look_at_all(groups);
    if (r_.best.empty() && !r_.certificate.stopped) r_.least = estimator_.least(groups);
    r_.folded = estimator_.folded();
    return std::move(r_);
  }

 private:
  // The group with the least seconds comes next, of equal ones the first.
  void look_at_all(std::vector<PointGroup>& groups) {
    using Place = std::pair<double, std::size_t>;
    std::vector<Place> all(groups.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {groups[i].seconds, i};
    std::priority_queue<Place, std::vector<Place>, std::greater<>> queue({}, std::move(all));
    Certificate& cert = r_.certificate;
    cert.bound = std::numeric_limits<double>::infinity();
    std::int64_t told = 0;
    while (!queue.empty()) {
      const std::size_t next = queue.top().second;
      try {
        check_stop();
        queue.pop();
        if (look(groups[next])) queue.emplace(groups[next].seconds, next);
      } catch (const Stopped&) {
        if (!options_.keeps_when_stopped) throw;
        cert.stopped = true;
        // Those after it have larger bounds.
        cert.bound = std::min(cert.bound, groups[next].seconds);
        break;
      }
      if (!options_.progress || cert.evaluated < told + 8) continue;
      told = cert.evaluated;
      options_.progress(cert);
    }
    cert.best = r_.best.empty() ? 0 : r_.best.front().estimate.seconds;
    if (cert.bound == std::numeric_limits<double>::infinity()) cert.bound = cert.best;
    std::ranges::sort(r_.frontier, {}, [](const auto& f) { return f.estimate.memory_bytes(); });
  }

  // True: it has another bound now, and waits for its turn.
  bool look(PointGroup& g) {
    if (excluded(g.seconds, g, g.points)) return false;
    if (!g.is_closest && !options_.brute_force) {
      const Violation v = estimator_.bound(g);
      if (v) r_.against(v.rule, v.message, g.points);
      return !v;
    }
    std::int64_t index = g.first_index;
    for (const PointGroup& part : estimator_.parts(g, !options_.brute_force)) {
      if (!excluded(part.seconds, g, part.points)) {
        estimator_.each_point(part, [&](const transform::Strategy& s) { look(s, index++); });
      } else {
        index += part.points;
      }
    }
    return false;
  }

  void look(const transform::Strategy& s, std::int64_t index) {
    check_stop();
    if (!options_.brute_force) {
      // A frontier needs all points that fit.
      const double enough = worst_kept(), seconds = options_.frontier ? 0 : estimator_.least_seconds(s, enough);
      if (seconds > enough) return r_.slower(seconds, 1);
      if (estimator_.least_bytes(s) > estimator_.limit()) {
        ++r_.certificate.by_memory;
        return;
      }
    }
    E e;
    if (const Violation v = estimator_.estimate(s, e)) return r_.against(v.rule, v.message, 1);
    ++r_.certificate.evaluated;
    if (estimator_.fits(e))
      r_.keep(s, std::move(e), index, options_.top, options_.frontier);
    else
      ++r_.certificate.too_large;
  }

  // What a point has to be below to count.
  double worst_kept() const {
    const bool one_is_enough = options_.proves_only_the_best && !r_.best.empty() && estimator_.folded() > 0;
    return one_is_enough ? r_.best.front().estimate.seconds : r_.worst_kept(options_.top);
  }

  // Whether points of the group that take at least so many seconds can be left out; counts them.
  bool excluded(double seconds, PointGroup& g, std::int64_t points) {
    if (options_.brute_force) return false;
    bool beaten = seconds > worst_kept();
    if (!beaten || options_.frontier) {
      if (g.bytes < 0) g.bytes = estimator_.least_bytes_of(g);
      if (g.bytes > estimator_.limit()) {
        r_.certificate.by_memory += points;
        return true;
      }
      beaten = beaten && std::ranges::any_of(r_.frontier, [&](const auto& f) {
                 return f.estimate.seconds < seconds && f.estimate.memory_bytes() <= g.bytes;
               });
    }
    if (beaten) r_.slower(seconds, points);
    return beaten;
  }

  Estimator<E>& estimator_;
  const SearchOptions& options_;
  ResultOf<E> r_;
};

// Why a strategy is not the answer: the rule that it breaks; the device and the bytes that it lacks; or how much slower it is, and where.
template <class E>
std::string why_not(Estimator<E>& estimator, std::int64_t devices, const transform::Strategy& s, const ResultOf<E>& result) {
  E e;
  const Violation v = estimator.estimate(s, e);
  if (s.devices() != devices && !(v && estimator.is_said_first(v)))
    return fmt::format("devices: it takes {} devices, {} were asked for\n", s.devices(), devices);
  if (v) return fmt::format("{}: {}\n", v.rule, v.message);
  if (!estimator.fits(e)) return fmt::format("memory: {}\n", estimator.lack(e));
  if (result.best.empty()) return fmt::format("it fits: {}\n", estimator.taken(e));
  const FoundOf<E>& best = result.best.front();
  if (estimator.words(s) == estimator.words(best.strategy)) return "it is the best\n";
  return fmt::format("time: {}\n", estimator.against(s, e, best.estimate));
}

}  // namespace pando::search
