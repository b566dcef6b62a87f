#include "transform/gradient/missing_gradient.h"

#include "ir/op_row.h"
#include "ir/text/describe.h"

#include <algorithm>

namespace pando::transform {

using namespace ir;

namespace {

using Values = std::unordered_set<ValueId>;

class Path {
 public:
  Path(const GradientGraph& g, GraphId forward, std::span<const ValueId> provided, ValueId from)
      : g_(g), m_(g.module()), ops_(m_.graph(forward).ops), computed_{from}, passed_{from}, leading_(provided.begin(), provided.end()) {
    for (auto it = ops_.rbegin(); it != ops_.rend(); ++it) {
      if (any(m_.results(*it), leading_)) leading_.insert(m_.operands(*it).begin(), m_.operands(*it).end());
    }
    for (OpId o : ops_) step(o);
  }

  std::string end() const {
    if (!last_.valid()) return "no op takes it";
    if (!reaches_) return fmt::format("no provided gradient is of what is computed from it; the last such op is {}", described(m_, last_));
    // A row or a carried graph that has had a gradient and gave none is known only now.
    for (auto it = ops_.rbegin(); it != ops_.rend(); ++it) {
      const auto operands = m_.operands(*it), results = m_.results(*it);
      const bool had_one = std::any_of(results.begin(), results.end(), [&](ValueId v) { return g_.has_gradient(v); });
      const auto lacks = [&](ValueId v) { return passed_.contains(v) && !g_.has_gradient(v); };
      if (had_one && std::any_of(operands.begin(), operands.end(), lacks)) return ends_at(*it);
    }
    return ends_at(stop_.valid() ? stop_ : last_);
  }

 private:
  static bool any(std::span<const ValueId> list, const Values& set) {
    return std::any_of(list.begin(), list.end(), [&](ValueId v) { return set.contains(v); });
  }
  void step(OpId o) {
    if (!any(m_.operands(o), computed_)) return;
    last_ = o;
    const auto results = m_.results(o);
    const bool leads = any(results, leading_);
    reaches_ = reaches_ || leads;
    computed_.insert(results.begin(), results.end());
    if (!any(m_.operands(o), passed_)) return;
    if (passes_gradients(m_.row(o))) {
      passed_.insert(results.begin(), results.end());
    } else if (leads && !stop_.valid()) {
      stop_ = o;
    }
  }
  std::string ends_at(OpId o) const { return fmt::format("it ends at {}, which passes none on", described(m_, o)); }

  const GradientGraph& g_;
  const Module& m_;
  const std::vector<OpId>& ops_;
  // What is computed from the value; of that, what gradients pass as far as rows say; what leads to a provided gradient.
  Values computed_, passed_, leading_;
  // The last op on the value's way, and the first that passes no gradient on though its results lead on.
  OpId last_, stop_;
  bool reaches_ = false;
};

}  // namespace

std::string why_missing(const GradientGraph& g, GraphId forward, std::span<const ValueId> provided, ValueId v) {
  const Type& t = g.module().type_of(v);
  if (!t.is_tensor() || !is_differentiable(t.dtype)) return fmt::format("its element type is {}", name_of(t.dtype));
  return "no differentiable path leads from it to a provided gradient: " + Path(g, forward, provided, v).end();
}

}  // namespace pando::transform
