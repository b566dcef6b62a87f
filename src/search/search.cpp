#include "search/search.h"

#include "base/process/stop.h"
#include "search/shapes.h"
#include "search/space.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pando::search {

namespace {

// Bounds are sums in another order than what they bound.
constexpr double kCaution = 1 - 1e-9;

class Searcher {
 public:
  Searcher(const Transformer& m, const simulate::Cluster& c, const Space& space, const SearchOptions& options)
      : m_(m),
        c_(c),
        space_(space),
        context_{{m_, c_, &memo_, measured_shapes_of(c_)}, space_},
        options_(options),
        limit_(space.memory > 0 ? space.memory : static_cast<double>(c.memory_bytes)) {}

  Result run() {
    std::vector<Candidate> candidates = bounded_groups();
    look_at_all(candidates, options_, r_, [&](const Candidate& g) {
      if (!excluded(g, g.seconds, g.group.points)) look_into(g);
      return false;
    });
    if (r_.best.empty() && !r_.certificate.stopped) find_least(candidates);
    return std::move(r_);
  }

 private:
  struct Candidate {
    PointGroup group;
    double seconds = 0;
    // Less than nothing: not asked yet. Most groups are too slow, whatever they hold.
    mutable double bytes = -1;
  };

  std::vector<Candidate> bounded_groups() {
    std::vector<Candidate> all;
    for (const PointGroup& g : groups_of(context_)) {
      check_stop();
      r_.certificate.points += g.points;
      if (options_.brute_force) {
        all.push_back({g});
        continue;
      }
      if (const Violation v = first_violation(context_, g.head)) {
        r_.against(v.rule, v.message, g.points);
        continue;
      }
      all.push_back({g, least_seconds(g.head)});
    }
    return all;
  }

  // With the values of axes that are chosen inside a group with which nothing computes longer.
  Strategy quickest(Strategy s, AxisPart part) const {
    for (const Axis& a : axes()) {
      if (a.part == part && a.quickest != nullptr) a.set(s, a.quickest(context_, s));
    }
    return s;
  }

  // Of the group's choices that compute least, transfers for nothing.
  double least_seconds(const Strategy& head) const {
    const Estimate e = estimate(free_facts(), quickest(quickest(head, AxisPart::transfers), AxisPart::rest));
    return kCaution * (e.computing + e.recomputing + e.head + e.bubble + e.host + e.optimizer);
  }

  double least_bytes(const Candidate& g) const {
    if (g.bytes < 0) g.bytes = kCaution * thriftiest_bytes(g.group.head);
    return g.bytes;
  }

  // Where nothing fits.
  void find_least(const std::vector<Candidate>& candidates) {
    const auto less = [&](const auto& a, const auto& b) {
      return std::pair(least_bytes(a), a.seconds) < std::pair(least_bytes(b), b.seconds);
    };
    const auto group = std::min_element(candidates.begin(), candidates.end(), less);
    if (group == candidates.end()) return;
    for (const Strategy& t : choices(context_, AxisPart::transfers, group->group.head)) {
      for (const Strategy& o : choices(context_, AxisPart::rest, group->group.head)) {
        const Strategy s = combined(t, o);
        if (first_violation(context_, s)) continue;
        const Found f{s, estimate(context_, s), -1};
        if (!r_.least || f.estimate.memory_bytes() < r_.least->estimate.memory_bytes()) r_.least = f;
      }
    }
  }

  // Of the choices among which the one is that holds least.
  double thriftiest_bytes(const Strategy& head) const {
    std::vector<Strategy> all{head};
    Values values;
    for (const Axis& a : axes()) {
      if (a.thriftiest == nullptr) continue;
      std::vector<Strategy> next;
      for (const Strategy& s : all) {
        values.clear();
        a.thriftiest(context_, s, values);
        for (std::int64_t v : values) a.set(next.emplace_back(s), v);
      }
      all = std::move(next);
    }
    double least = std::numeric_limits<double>::infinity();
    for (const Strategy& s : all) least = std::min(least, estimate(free_facts(), s).memory_bytes());
    return least;
  }

  // The machine with a network that takes no time.
  StrategyFacts free_facts() const {
    if (!free_) {
      free_ = c_;
      for (simulate::NetworkLevel& l : free_->levels) {
        l.bytes_per_second = 1e30;
        l.shared_bytes_per_second = 0;
        l.latency = 0;
      }
    }
    return {m_, *free_, &free_memo_, measured_shapes_of(c_)};
  }

  // Whether points of a group that take at least so many seconds can be left out; counts them.
  bool excluded(const Candidate& g, double seconds, std::int64_t points) {
    if (options_.brute_force) return false;
    bool beaten = seconds > r_.worst_kept(options_.top);
    if (!beaten || options_.frontier) {
      const double bytes = least_bytes(g);
      if (bytes > limit_) {
        r_.certificate.by_memory += points;
        return true;
      }
      beaten = beaten && std::any_of(r_.frontier.begin(), r_.frontier.end(),
                                     [&](const Found& f) { return f.estimate.seconds < seconds && f.estimate.memory_bytes() <= bytes; });
    }
    if (!beaten) return false;
    r_.slower(seconds, points);
    return true;
  }

  void look_into(const Candidate& g) {
    const std::vector<Strategy> rest = choices(context_, AxisPart::rest, g.group.head);
    std::int64_t index = g.group.first_index;
    for (const Strategy& t : choices(context_, AxisPart::transfers, g.group.head)) {
      const auto count = static_cast<std::int64_t>(rest.size());
      if (!options_.brute_force && excluded(g, transfer_bound(g, t), count)) {
        index += count;
        continue;
      }
      check_stop();
      for (const Strategy& o : rest) evaluate(combined(t, o), index++);
    }
  }

  double transfer_bound(const Candidate& g, const Strategy& t) const {
    Strategy s = quickest(t, AxisPart::rest);
    if (s.tensor_level >= 0) s.pipeline_level = s.data_level = 0;
    const Estimate e = estimate(context_, s);
    return std::max(g.seconds, kCaution * (e.computing + e.recomputing + e.head + e.tensor_transfers + e.context_transfers +
                                           e.expert_transfers + e.bubble + e.host + e.optimizer));
  }

  void evaluate(const Strategy& s, std::int64_t index) {
    if (const Violation v = first_violation(context_, s)) return r_.against(v.rule, v.message, 1);
    ++r_.certificate.evaluated;
    Found f{s, estimate(context_, s), index};
    if (!f.estimate.fits(limit_, c_)) {
      ++r_.certificate.too_large;
      return;
    }
    r_.keep(std::move(f), options_.top, options_.frontier);
  }

  const Transformer& m_;
  const simulate::Cluster& c_;
  const Space& space_;
  mutable LayerMemo memo_, free_memo_;
  const AxisContext context_;
  const SearchOptions& options_;
  double limit_;
  mutable std::optional<simulate::Cluster> free_;
  Result r_;
};

}  // namespace

Result search(const Transformer& model, const simulate::Cluster& cluster, const Space& space, const SearchOptions& options) {
  return Searcher(model, cluster, space, options).run();
}

}  // namespace pando::search
