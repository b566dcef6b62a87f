#include "search/search.h"

#include "base/process/stop.h"
#include "search/searcher.h"
#include "search/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pando::search {

namespace {

// Bounds are sums in another order than what they bound.
constexpr double kCaution = 1 - 1e-9;

constexpr std::pair<const char*, double Estimate::*> kParts[] = {{"computing", &Estimate::computing},
                                                                 {"recomputing", &Estimate::recomputing},
                                                                 {"head", &Estimate::head},
                                                                 {"tensor-parallel transfers", &Estimate::tensor_transfers},
                                                                 {"context-parallel transfers", &Estimate::context_transfers},
                                                                 {"experts' transfers", &Estimate::expert_transfers},
                                                                 {"pipeline transfers", &Estimate::pipeline_transfers},
                                                                 {"data-parallel transfers", &Estimate::data_transfers},
                                                                 {"bubble", &Estimate::bubble},
                                                                 {"synchronisation", &Estimate::synchronisation},
                                                                 {"optimizer", &Estimate::optimizer},
                                                                 {"offload", &Estimate::offload}};

// Against the best.
std::string compared(double percent) {
  if (std::abs(percent) < 0.005) return "as quick as";
  return percent < 0 ? fmt::format("{:.2f} % quicker than", -percent) : fmt::format("{:.2f} % slower than", percent);
}

// Axes whose values are words: ways to do the same with the same numbers.
bool has_words(const Axis& a) { return a.flag || !a.names.empty(); }

// Of the same time and memory, with the same degrees.
bool are_equal_points(const Strategy& a, const Estimate& of_a, const Strategy& b, const Estimate& of_b) {
  if (of_a.seconds != of_b.seconds || of_a.memory != of_b.memory || of_a.far_bytes != of_b.far_bytes) return false;
  return std::ranges::all_of(predicted_axes(), [&](const Axis* x) { return has_words(*x) || x->get(a) == x->get(b); });
}

class FormulaEstimator final : public Estimator<Estimate> {
 public:
  FormulaEstimator(const Transformer& m, const simulate::Cluster& c, const Space& space)
      : Estimator(space.memory > 0 ? space.memory : static_cast<double>(c.memory_bytes)),
        space_(space),
        sizes_(facts_of(m, c, space.batch, &memo_)),
        context_{.space = space_, .sizes = &sizes_},
        free_(c),
        walk_(context_) {
    for (simulate::NetworkLevel& l : free_.levels) {
      l.bytes_per_second = 1e30;
      l.shared_bytes_per_second = 0;
      l.latency = 0;
    }
    for (const Axis* a : predicted_axes()) {
      if (a->part == AxisPart::group) axes_of_group_.push_back(a);
      if (a->part == AxisPart::rest) axes_of_rest_.push_back(a);
    }
  }

  Violation estimate(const Strategy& s, Estimate& e) override {
    Violation v = first_violation(sizes_, s, checked_);
    if (!v) e = search::estimate(sizes_, s, limit_);
    return v;
  }
  bool fits(const Estimate& e) const override { return e.fits(limit_, sizes_.cluster); }

  // Groups of equal degrees, microbatch, stages, recomputation and schedule: no member is quicker than its computing alone, none needs less
  // memory than its thriftiest choices.
  std::vector<PointGroup> groups(Result& r, bool bounded) override {
    r.samples = space_.batch;
    r.are_equal = are_equal_points;
    std::vector<PointGroup> all;
    std::size_t number = 0;
    heads_.clear();
    if (bounded) checked_ = AxisPart::transfers;
    walk_.each_group([&](const Strategy& head, std::int64_t points) {
      check_stop();
      PointGroup g{.first_index = r.certificate.points, .points = points, .number = number};
      r.certificate.points += points;
      if (bounded) {
        if (const Violation v = first_violation(sizes_, head)) return r.against(v.rule, v.message, points);
        g.seconds = least_seconds_of(head);
      }
      for (const Axis* a : axes_of_group_) heads_.push_back(a->get(head));
      all.push_back(g);
      ++number;
    });
    return all;
  }

  // Of the choices among which the one is that holds least. Most groups are too slow, whatever they hold.
  double least_bytes_of(const PointGroup& g) override {
    std::vector<Strategy> all{head_of(g)};
    Values values;
    for (const Axis* a : predicted_axes()) {
      if (a->thriftiest == nullptr) continue;
      std::vector<Strategy> next;
      for (const Strategy& s : all) {
        values.clear();
        a->thriftiest(context_, s, values);
        for (std::int64_t v : values) a->set(next.emplace_back(s), v);
      }
      all = std::move(next);
    }
    double least = std::numeric_limits<double>::infinity();
    for (const Strategy& s : all) least = std::min(least, search::estimate(free_facts(), s).memory_bytes());
    return kCaution * least;
  }

  // For each choice of tensor-parallel transfers one.
  std::vector<PointGroup> parts(const PointGroup& g, bool bounded) override {
    Strategy head = head_of(g);
    parts_.clear(), rest_.clear();
    walk_.each(AxisPart::rest, head, [&](const Strategy& s) {
      for (const Axis* a : axes_of_rest_) rest_.push_back(a->get(s));
    });
    const auto points = static_cast<std::int64_t>(rest_.size() / axes_of_rest_.size());
    std::vector<PointGroup> all;
    walk_.each(AxisPart::transfers, head, [&](const Strategy& s) {
      all.push_back({.points = points, .number = parts_.size()});
      if (bounded) all.back().seconds = std::max(g.seconds, least_seconds_with(s));
      parts_.push_back(s);
    });
    return all;
  }
  void each_point(const PointGroup& part, const std::function<void(const Strategy&)>& f) override {
    Strategy s = parts_[part.number];
    for (std::size_t i = 0; i < rest_.size();) {
      for (const Axis* a : axes_of_rest_) a->set(s, rest_[i++]);
      f(s);
    }
  }

  std::optional<Found> least(std::vector<PointGroup>& groups) override {
    for (PointGroup& g : groups) {
      if (g.bytes < 0) g.bytes = least_bytes_of(g);
    }
    const auto group = std::ranges::min_element(groups, {}, [](const PointGroup& g) { return std::pair(g.bytes, g.seconds); });
    std::optional<Found> least;
    if (group == groups.end()) return least;
    for (const PointGroup& part : parts(*group, false)) {
      each_point(part, [&](const Strategy& s) {
        Estimate e;
        if (!estimate(s, e) && (!least || e.memory_bytes() < least->estimate.memory_bytes())) least = Found{s, e, -1};
      });
    }
    return least;
  }

  std::string words(const Strategy& s) const override { return to_string(s, Spelling::brief); }
  std::string lack(const Estimate& e) const override {
    if (e.memory_bytes() > limit_) {
      return fmt::format("a device of stage {} needs {:.2f} GiB ({}), {:.2f} more than the {:.2f} that it has", e.fullest_stage,
                         e.memory_bytes() / kGib, kinds_text(e.memory), (e.memory_bytes() - limit_) / kGib, limit_ / kGib);
    }
    return fmt::format("a device needs {:.2f} GiB of the second memory, which has {:.2f}", e.far_bytes / kGib,
                       static_cast<double>(sizes_.cluster.far_bytes) / kGib);
  }
  std::string taken(const Estimate& e) const override { return fmt::format("{:.4f} s, {:.2f} GiB", e.seconds, e.memory_bytes() / kGib); }
  std::string against(const Strategy& s, const Estimate& e, const Estimate& best) const override {
    const double more_seconds = 100 * (e.seconds / best.seconds - 1);
    std::string text = fmt::format("{:.4f} s, {} the best {}({:.4f} s)", e.seconds, compared(more_seconds),
                                   more_seconds < 0 ? "of the space " : "", best.seconds);
    if (more_seconds < 0) text += "; " + outside_the_space(s);
    for (const auto& [name, part] : kParts) {
      const double more = e.*part - best.*part;
      if (std::abs(more) >= 0.0005 * best.seconds) text += fmt::format("\n  {}: {:+.4f} s", name, more);
    }
    return text;
  }

  // The words of the space, one at a time, that make an equal point.
  std::vector<std::string> equals_of(const Found& f) {
    std::vector<std::string> words;
    Values values;
    for (const Axis* a : predicted_axes()) {
      if (!has_words(*a)) continue;
      values.clear();
      walk_.values(*a, f.strategy, values);
      for (const std::int64_t value : values) {
        if (value == a->get(f.strategy)) continue;
        Strategy s = f.strategy;
        a->set(s, value);
        if (first_violation(sizes_, s)) continue;
        if (are_equal_points(f.strategy, f.estimate, s, search::estimate(sizes_, s)))
          words.push_back(a->flag && value == 0 ? fmt::format("no {}", a->word_in(Spelling::brief)) : text_of(*a, value));
      }
    }
    return words;
  }

 private:
  Strategy head_of(const PointGroup& g) const {
    Strategy s;
    const std::int64_t* value = heads_.data() + g.number * axes_of_group_.size();
    for (const Axis* a : axes_of_group_) a->set(s, *value++);
    return s;
  }

  // With the values of axes that are chosen inside a group with which nothing computes longer.
  void make_quickest(Strategy& s, AxisPart part) const {
    for (const Axis* a : predicted_axes()) {
      if (a->part == part && a->quickest != nullptr) a->set(s, a->quickest(context_, s));
    }
  }

  // Of the group's choices that compute least, transfers for nothing.
  double least_seconds_of(const Strategy& head) {
    Strategy s = head;
    make_quickest(s, AxisPart::transfers), make_quickest(s, AxisPart::rest);
    const Estimate e = search::estimate(free_facts(), s);
    return kCaution * (e.computing + e.recomputing + e.head + e.bubble + e.host + e.optimizer);
  }

  // With these transfers.
  double least_seconds_with(const Strategy& transfers) const {
    Strategy s = transfers;
    make_quickest(s, AxisPart::rest);
    if (s.tensor_level >= 0) s.pipeline_level = s.data_level = 0;
    const Estimate e = search::estimate(sizes_, s);
    return kCaution * (e.computing + e.recomputing + e.head + e.tensor_transfers + e.context_transfers + e.expert_transfers + e.bubble +
                       e.host + e.optimizer);
  }

  // The machine with a network that takes no time.
  StrategyFacts free_facts() { return {sizes_.model, free_, space_.batch, &free_memo_, sizes_.shapes}; }

  // Which of its words the space does not have.
  std::string outside_the_space(const Strategy& s) const {
    std::vector<std::string> words;
    Strategy so_far;
    Values values;
    for (const Axis* a : predicted_axes()) {
      values.clear();
      add_values(*a, context_, so_far, values);
      const std::int64_t value = a->get(s);
      // A value below 0 that is not said is chosen: the space has what it becomes.
      const bool is_chosen = value == a->otherwise && value < 0;
      if (!is_chosen && std::ranges::find(values, value) == values.end()) words.push_back(text_of(*a, value));
      a->set(so_far, value);
    }
    if (words.empty()) return "it does not have what --require demands";
    return fmt::format("the space does not have {}", fmt::join(words, ", "));
  }

  const Space& space_;
  LayerMemo memo_, free_memo_;
  const StrategyFacts sizes_;
  const SpaceFacts context_;
  simulate::Cluster free_;
  PointWalk walk_;
  // Rules of axes before it hold for the points of every group that is left.
  AxisPart checked_ = AxisPart::group;
  std::vector<const Axis*> axes_of_group_, axes_of_rest_;
  // Of each group, by its number, the values of the first of these axes.
  std::vector<std::int64_t> heads_;
  // Of the group that is looked into: the choices of transfers, and the values of each choice of the rest.
  std::vector<Strategy> parts_;
  std::vector<std::int64_t> rest_;
};

}  // namespace

Result search(const Transformer& model, const simulate::Cluster& cluster, const Space& space, const SearchOptions& options) {
  FormulaEstimator estimator(model, cluster, space);
  Result r = Searcher<Estimate>(estimator, options).run();
  for (Found& f : r.best) f.equals = estimator.equals_of(f);
  return r;
}

std::string why_not(const Transformer& model, const simulate::Cluster& cluster, const Space& space, const Strategy& s,
                    const Result& result) {
  FormulaEstimator estimator(model, cluster, space);
  return why_not(estimator, space.devices, s, result);
}

}  // namespace pando::search
