#include "search/search.h"

#include "search/space.h"

#include <algorithm>
#include <limits>

namespace pando::search {

namespace {

// Bounds are sums in another order than what they bound.
constexpr double kCaution = 1 - 1e-9;

class Searcher {
 public:
  Searcher(const Transformer& m, const simulate::Cluster& c, const Space& space, const SearchOptions& options)
      : m_(m), c_(c), space_(space), options_(options), limit_(space.memory > 0 ? space.memory : static_cast<double>(c.memory_bytes)) {}

  Result run() {
    std::vector<Candidate> candidates = bounded_groups();
    r_.certificate.bound = std::numeric_limits<double>::infinity();
    std::size_t visited = 0;
    for (const Candidate& g : candidates) {
      if (excluded(g.seconds, g.bytes, g.group.points)) continue;
      look_into(g);
      if (options_.progress && ++visited % 64 == 0) options_.progress(r_.certificate);
    }
    Certificate& cert = r_.certificate;
    cert.best = r_.best.empty() ? 0 : r_.best.front().estimate.seconds;
    if (cert.bound == std::numeric_limits<double>::infinity()) cert.bound = cert.best;
    std::sort(r_.frontier.begin(), r_.frontier.end(),
              [](const Found& a, const Found& b) { return a.estimate.memory_bytes() < b.estimate.memory_bytes(); });
    return std::move(r_);
  }

 private:
  struct Candidate {
    PointGroup group;
    double seconds = 0, bytes = 0;
  };

  std::vector<Candidate> bounded_groups() {
    std::vector<Candidate> all;
    for (const PointGroup& g : groups_of(m_, c_, space_)) {
      r_.certificate.points += g.points;
      if (options_.brute_force) {
        all.push_back({g, 0, 0});
        continue;
      }
      if (!possible(g.head)) {
        r_.certificate.by_rule += g.points;
        continue;
      }
      Candidate candidate{g, 0, 0};
      thrifty_bounds(candidate);
      all.push_back(candidate);
    }
    std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
    return all;
  }

  // What all points of the group share obeys the rules.
  bool possible(Strategy s) const {
    s.tensor_level = -1;
    return !first_violation(m_, c_, s);
  }

  // The group's choices that compute least and hold least, its transfers for nothing.
  void thrifty_bounds(Candidate& g) const {
    Strategy s = g.group.head;
    s.comm = TensorComm::sequence_parallel;
    s.regather = !s.recomputes_all();
    s.zero = s.data * s.context > 1 ? (space_.wide ? 3 : 1) : 0;
    const Estimate e = estimate(m_, free_network(), s);
    g.seconds = kCaution * (e.computing + e.recomputing + e.head + e.bubble + e.host + e.optimizer);
    g.bytes = kCaution * least_bytes(s);
  }

  double least_bytes(Strategy s) const {
    if (space_.wide && c_.far_bytes > 0) {
      s.offload_weights = s.offload_optimizer = true;
      s.offload_activations = !s.recomputes_all();
    }
    double least = std::numeric_limits<double>::infinity();
    // Split weights are gathered somewhere: that may take more than it saves.
    const std::int64_t most = s.zero;
    for (s.zero = most; s.zero >= std::max<std::int64_t>(0, most - 1); --s.zero) {
      least = std::min(least, estimate(m_, free_network(), s).memory_bytes());
    }
    return least;
  }

  const simulate::Cluster& free_network() const {
    if (!free_) {
      free_ = c_;
      for (simulate::NetworkLevel& l : free_->levels) {
        l.bytes_per_second = 1e30;
        l.shared_bytes_per_second = 0;
        l.latency = 0;
      }
    }
    return *free_;
  }

  double worst_kept() const {
    return r_.best.size() < options_.top ? std::numeric_limits<double>::infinity() : r_.best.back().estimate.seconds;
  }

  // Whether points of at least so many seconds and bytes can be left out; counts them.
  bool excluded(double seconds, double bytes, std::int64_t points) {
    if (options_.brute_force) return false;
    if (bytes > limit_) {
      r_.certificate.by_memory += points;
      return true;
    }
    bool beaten = seconds > worst_kept();
    if (beaten && options_.frontier) {
      beaten = std::any_of(r_.frontier.begin(), r_.frontier.end(),
                           [&](const Found& f) { return f.estimate.seconds < seconds && f.estimate.memory_bytes() <= bytes; });
    }
    if (!beaten) return false;
    r_.certificate.by_time += points;
    r_.certificate.bound = std::min(r_.certificate.bound, seconds);
    return true;
  }

  void look_into(const Candidate& g) {
    const std::vector<TransferChoice> transfers = transfer_choices(c_, space_, g.group.head);
    const std::vector<OtherChoice> others = other_choices(c_, space_, g.group.head);
    std::int64_t index = g.group.first_index;
    for (const TransferChoice& t : transfers) {
      const auto count = static_cast<std::int64_t>(others.size());
      if (!options_.brute_force && excluded(transfer_bound(g, t), g.bytes, count)) {
        index += count;
        continue;
      }
      for (const OtherChoice& o : others) evaluate(combined(g.group.head, t, o), index++);
    }
  }

  double transfer_bound(const Candidate& g, const TransferChoice& t) const {
    OtherChoice o;
    o.zero = g.group.head.data * g.group.head.context > 1 ? (space_.wide ? 3 : 1) : 0;
    Strategy s = combined(g.group.head, t, o);
    if (s.tensor_level >= 0) s.pipeline_level = s.data_level = 0;
    const Estimate e = estimate(m_, c_, s);
    return std::max(g.seconds, kCaution * (e.computing + e.recomputing + e.head + e.tensor_transfers + e.bubble + e.host + e.optimizer));
  }

  void evaluate(const Strategy& s, std::int64_t index) {
    ++r_.certificate.evaluated;
    if (first_violation(m_, c_, s)) {
      --r_.certificate.evaluated;
      ++r_.certificate.by_rule;
      return;
    }
    Found f{s, estimate(m_, c_, s), index};
    if (f.estimate.memory_bytes() > limit_) {
      ++r_.certificate.too_large;
      return;
    }
    if (options_.frontier) add_to_frontier(f);
    keep(std::move(f));
  }

  static bool before(const Found& a, const Found& b) {
    if (a.estimate.seconds != b.estimate.seconds) return a.estimate.seconds < b.estimate.seconds;
    const double x = a.estimate.memory_bytes(), y = b.estimate.memory_bytes();
    return x != y ? x < y : a.index < b.index;
  }

  void keep(Found f) {
    auto& best = r_.best;
    if (best.size() == options_.top && !before(f, best.back())) return;
    best.insert(std::upper_bound(best.begin(), best.end(), f, before), std::move(f));
    if (best.size() > options_.top) best.pop_back();
  }

  void add_to_frontier(const Found& f) {
    const auto beats = [](const Found& a, const Found& b) {
      const double x = a.estimate.memory_bytes(), y = b.estimate.memory_bytes();
      if (a.estimate.seconds == b.estimate.seconds && x == y) return a.index < b.index;
      return a.estimate.seconds <= b.estimate.seconds && x <= y;
    };
    if (std::any_of(r_.frontier.begin(), r_.frontier.end(), [&](const Found& a) { return beats(a, f); })) return;
    std::erase_if(r_.frontier, [&](const Found& b) { return beats(f, b); });
    r_.frontier.push_back(f);
  }

  const Transformer& m_;
  const simulate::Cluster& c_;
  const Space& space_;
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
