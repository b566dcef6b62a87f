#include "transform/distribute/stages/stages.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/rows/inference.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <span>

namespace pando::transform {

namespace {

using ir::Module;
using ir::OpId;
using ir::ValueId;

bool is_load(const Module& m, const Layout& layout, OpId o) { return layout.when[o.index()] == When::each && m.op(o).operand_count == 0; }

// Ops that make a layer heavy.
bool counts(const Program& p, const Layout& layout, OpId o) {
  return layout.when[o.index()] == When::each && p.phase_of(o) == Phase::forward && !is_load(p.module, layout, o);
}

// Of each value, a set of stages.
class StageSets {
 public:
  StageSets(std::size_t values, std::int32_t stages) : words_(static_cast<std::size_t>(stages) / 64 + 1), bits_(values * words_, 0) {}
  void add(ValueId v, std::int32_t stage) {
    if (stage >= 0) word(v, stage) |= bit(stage);
  }
  bool has(ValueId v, std::int32_t stage) const {
    return stage >= 0 && (bits_[v.index() * words_ + static_cast<std::size_t>(stage) / 64] & bit(stage)) != 0;
  }
  // -1: there is none.
  std::int32_t first(ValueId v) const {
    for (std::size_t w = 0; w < words_; ++w) {
      if (const std::uint64_t b = of(v)[w]) return static_cast<std::int32_t>(64 * w) + std::countr_zero(b);
    }
    return -1;
  }
  // The last one not behind `until`; -1: there is none.
  std::int32_t last(ValueId v, std::int32_t until) const {
    const std::size_t most = std::min(words_ - 1, static_cast<std::size_t>(std::max(0, until)) / 64);
    for (std::size_t w = until < 0 ? 0 : most + 1; w-- > 0;) {
      std::uint64_t b = of(v)[w];
      const std::int32_t beyond = until - static_cast<std::int32_t>(64 * w);
      if (beyond < 63) b &= (std::uint64_t{2} << beyond) - 1;
      if (b != 0) return static_cast<std::int32_t>(64 * w) + 63 - std::countl_zero(b);
    }
    return -1;
  }
  std::span<const std::uint64_t> of(ValueId v) const { return {bits_.data() + v.index() * words_, words_}; }
  void add_all(ValueId v, std::span<const std::uint64_t> stages) {
    for (std::size_t w = 0; w < stages.size(); ++w) bits_[v.index() * words_ + w] |= stages[w];
  }

 private:
  static std::uint64_t bit(std::int32_t stage) { return std::uint64_t{1} << (stage % 64); }
  std::uint64_t& word(ValueId v, std::int32_t stage) { return bits_[v.index() * words_ + static_cast<std::size_t>(stage) / 64]; }
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

class Assignment {
 public:
  Assignment(const Program& program, const Strategy& strategy, const Layout& layout, std::int32_t stages)
      : program_(program),
        m_(program.module),
        strategy_(strategy),
        layout_(layout),
        seen_at_(m_.value_count(), stages),
        lies_at_(m_.value_count(), stages) {
    s_.count = stages;
    s_.of_op.assign(m_.op_count(), -1);
    s_.home.assign(m_.value_count(), -1);
    s_.portable.assign(m_.value_count(), false);
    s_.for_weights.assign(m_.op_count(), false);
    late_view_.assign(m_.value_count(), false);
    last_use_.assign(m_.value_count(), -1);
  }

  Stages run() {
    portable();
    forward();
    before_by_users();
    inputs();
    before_by_operands();
    lie();
    backward();
    sums();
    inputs();
    behind();
    inputs();
    for_weights();
    return std::move(s_);
  }

 private:
  const ir::Graph& main() const { return m_.graph(m_.main_graph()); }
  const std::vector<OpId>& ops() const { return main().ops; }
  When when(OpId o) const { return layout_.when[o.index()]; }
  std::int32_t& stage(OpId o) { return s_.of_op[o.index()]; }
  std::int32_t& home(ValueId v) { return s_.home[v.index()]; }
  bool is_portable(OpId o) const { return !m_.results(o).empty() && s_.portable[m_.result(o).index()]; }

  // Lies where its first user is.
  bool is_load(OpId o) const { return transform::is_load(m_, layout_, o); }

  void portable() {
    for (std::size_t i = 0; i < main().inputs.size(); ++i) {
      s_.portable[main().inputs[i].index()] = !program_.is_batch(i) && ir::elements_of(m_.type_of(main().inputs[i]).shape) == 1;
    }
    for (OpId o : ops()) {
      bool all = when(o) != When::each && m_.row(o).effects == ir::Effects::none && !m_.row(o).bundles;
      for (ValueId v : m_.operands(o)) all &= s_.portable[v.index()];
      for (ValueId v : m_.results(o)) s_.portable[v.index()] = all;
    }
  }

  void place(OpId o, std::int32_t at) {
    stage(o) = at;
    for (ValueId v : m_.results(o)) home(v) = at;
    for (ValueId v : m_.operands(o)) seen_at_.add(v, at);
  }

  void forward() {
    std::uint32_t layers = 0;
    for (OpId o : ops()) {
      if (counts(program_, layout_, o)) layers = std::max(layers, program_.layer_of(o) + 1);
    }
    const std::vector<std::int32_t> at = stage_of_layer(layers);
    for (OpId o : ops()) {
      if (counts(program_, layout_, o)) place(o, at[program_.layer_of(o)]);
    }
  }

  std::vector<std::int32_t> stage_of_layer(std::uint32_t layers) {
    std::vector<std::uint32_t> sizes = strategy_.layers_per_stage;
    if (sizes.empty()) {
      if (layers < static_cast<std::uint32_t>(s_.count)) {
        ir::reject(ir::ErrorClass::value, "stages", "{} layers do not fill {} stages", layers, s_.count);
      }
      sizes = s_.count == 1 ? std::vector{layers} : even_groups(layer_operations(program_, layout_), s_.count);
    }
    const std::uint32_t sum = std::accumulate(sizes.begin(), sizes.end(), 0u);
    if (sizes.size() != static_cast<std::size_t>(s_.count) || sum != layers) {
      ir::reject(ir::ErrorClass::value, "layers-per-stage",
                 "layers_per_stage has {} stages with {} layers in all; the program has {} layers, the schedule {} stages", sizes.size(),
                 sum, layers, s_.count);
    }
    std::vector<std::int32_t> at;
    for (std::size_t i = 0; i < sizes.size(); ++i) at.insert(at.end(), sizes[i], static_cast<std::int32_t>(i));
    return at;
  }

  void before_by_users() {
    const std::vector<OpId>& all = ops();
    for (std::size_t i = all.size(); i-- > 0;) {
      const OpId o = all[i];
      if ((when(o) != When::before && !is_load(o)) || is_portable(o)) continue;
      std::int32_t at = -1;
      for (ValueId v : m_.results(o)) {
        if (const std::int32_t u = seen_at_.first(v); u >= 0) at = at < 0 ? u : std::min(at, u);
      }
      if (at >= 0) place(o, at);
    }
  }

  void inputs() {
    for (ValueId v : main().inputs) {
      if (s_.portable[v.index()] || home(v) >= 0) continue;
      home(v) = seen_at_.first(v);
    }
  }

  std::int32_t latest_home(OpId o) {
    std::int32_t at = -1;
    for (ValueId v : m_.operands(o)) at = std::max(at, home(v));
    return at;
  }

  void before_by_operands() {
    for (OpId o : ops()) {
      if ((when(o) == When::before || is_load(o)) && !is_portable(o) && stage(o) < 0) place(o, std::max(0, latest_home(o)));
    }
  }

  // Where the forward pass has what does not depend on samples, or all that it is made of.
  void lie() {
    lies_at_ = seen_at_;
    for (ValueId v : main().inputs) lies_at_.add(v, home(v));
    for (OpId o : ops()) {
      if (when(o) != When::before || is_load(o) || is_portable(o)) continue;
      const std::vector<std::uint64_t> common = where_all_lie(o);
      for (ValueId v : m_.results(o)) {
        lies_at_.add(v, home(v));
        lies_at_.add_all(v, common);
      }
    }
  }
  std::vector<std::uint64_t> where_all_lie(OpId o) {
    std::vector<std::uint64_t> common;
    for (ValueId v : m_.operands(o)) {
      if (home(v) < 0) continue;
      const auto here = lies_at_.of(v);
      if (common.empty()) common.assign(here.begin(), here.end());
      for (std::size_t w = 0; w < here.size(); ++w) common[w] &= here[w];
    }
    return common;
  }

  bool is_there(ValueId v, std::int32_t at) { return home(v) == at || home(v) < 0 || seen_at_.has(v, at) || lies_at_.has(v, at); }
  // The last stage where it is that gradients of stage `at` have come to.
  std::int32_t last_until(ValueId v, std::int32_t at) {
    const OpId p = m_.value(v).producer;
    if (p.valid() && when(p) == When::each) return home(v);
    const std::int32_t last = lies_at_.last(v, at);
    return last >= 0 ? last : home(v);
  }

  void backward() {
    for (OpId o : ops()) {
      if (when(o) != When::each || program_.phase_of(o) == Phase::forward || is_load(o)) continue;
      if (m_.row(o).view == ir::View::of_first_operand && m_.results(o).size() == 1 && !is_gradient(m_.operand(o, 0))) {
        late_view_[m_.result(o).index()] = true;
        continue;
      }
      place(o, stage_of_gradients(o, layout_.derivative_of[o.index()]));
      for (ValueId v : m_.operands(o)) use_view(v, stage(o));
    }
    for (OpId o : ops()) {
      if (m_.results(o).empty() || !late_view_[m_.result(o).index()]) continue;
      const std::int32_t at = last_use_[m_.result(o).index()];
      place(o, at >= 0 ? at : std::max(0, home(root(m_.result(o)))));
    }
  }

  // An op goes where its gradients come from, if what it takes of the forward pass is there, too; or to an earlier stage whose op it is the
  // derivative of. Else it goes to what it takes.
  std::int32_t stage_of_gradients(OpId o, OpId derivative_of) {
    constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
    std::int32_t of_gradients = kNone, of_forward = -1;
    for (ValueId v : m_.operands(o)) {
      if (is_gradient(v)) of_gradients = std::min(of_gradients, home(v));
    }
    for (ValueId v : m_.operands(o)) {
      const ValueId from = root(v);
      if (!s_.portable[from.index()] && !is_gradient(v)) of_forward = std::max(of_forward, last_until(from, of_gradients));
    }
    if (of_gradients != kNone && has_all(o, of_gradients)) {
      const std::int32_t own = derivative_of.valid() ? stage(derivative_of) : -1;
      return own >= 0 && own < of_gradients && has_all(o, own) ? own : of_gradients;
    }
    return of_forward >= 0 ? of_forward : of_gradients != kNone ? of_gradients : s_.count - 1;
  }
  // Whether a stage has what an op takes of the forward pass.
  bool has_all(OpId o, std::int32_t at) {
    const auto operands = m_.operands(o);
    return std::all_of(operands.begin(), operands.end(),
                       [&](ValueId v) { return is_gradient(v) || s_.portable[root(v).index()] || is_there(root(v), at); });
  }

  // Made in the backward pass, and no view of what the forward pass has.
  bool is_gradient(ValueId v) const {
    const OpId p = m_.value(v).producer;
    return p.valid() && when(p) == When::each && program_.phase_of(p) != Phase::forward && !late_view_[v.index()];
  }
  // Views that the backward pass makes of what the forward pass has are made where they are used: on the last of these stages, whose
  // backward pass is the first.
  ValueId root(ValueId v) const {
    while (late_view_[v.index()]) v = m_.operand(m_.value(v).producer, 0);
    return v;
  }
  void use_view(ValueId v, std::int32_t at) {
    for (; late_view_[v.index()]; v = m_.operand(m_.value(v).producer, 0)) last_use_[v.index()] = std::max(last_use_[v.index()], at);
  }

  void sums() {
    s_.sums = sums_of_stages(program_, layout_, s_.home);
    for (const SumOfStages& sum : s_.sums) {
      for (OpId o : sum.ops) stage(o) = -1;
      std::int32_t& at = home(m_.result(sum.last));
      for (ValueId v : sum.terms) at = std::min(at, home(v));
    }
  }

  void behind() {
    for (OpId o : ops()) {
      if (when(o) != When::behind || is_portable(o)) continue;
      if (m_.row(o).bundles) {
        for (std::size_t i = 0; i < m_.results(o).size(); ++i) home(m_.result(o, i)) = std::max(0, home(m_.operand(o, i)));
        continue;
      }
      const ValueId w = layout_.weight_of_op[o.index()];
      place(o, w.valid() && home(w) >= 0 ? home(w) : std::max(0, latest_home(o)));
    }
  }

  // What other stages need is not for weights alone, nor is what leads to it.
  void for_weights() {
    std::vector<bool> needed(m_.value_count(), false);
    for (OpId o : ops()) {
      if (when(o) != When::each) continue;
      for (ValueId v : m_.operands(o)) {
        if (home(v) >= 0 && stage(o) >= 0 && home(v) != stage(o)) needed[v.index()] = true;
      }
    }
    const std::vector<OpId>& all = ops();
    for (std::size_t i = all.size(); i-- > 0;) {
      const OpId o = all[i];
      if (when(o) != When::each || program_.phase_of(o) == Phase::forward || stage(o) < 0) continue;
      bool any = false;
      for (ValueId v : m_.results(o)) any |= needed[v.index()];
      s_.for_weights[o.index()] = !any;
      if (!any) continue;
      for (ValueId v : m_.operands(o)) needed[v.index()] = true;
    }
  }

  const Program& program_;
  const Module& m_;
  const Strategy& strategy_;
  const Layout& layout_;
  Stages s_;
  // By value: the stages whose ops take it; where it is without being sent (of what does not depend on samples).
  StageSets seen_at_, lies_at_;
  // By value: a view that the backward pass makes of what the forward pass has.
  std::vector<bool> late_view_;
  // By value, of such views: the last stage that uses it; -1: none.
  std::vector<std::int32_t> last_use_;
};

}  // namespace

Stages assign_stages(const Program& program, const Strategy& strategy, const Layout& layout, std::int32_t stages) {
  return Assignment(program, strategy, layout, stages).run();
}

std::vector<std::uint32_t> even_groups(const std::vector<double>& cost, std::int32_t stages) {
  const std::size_t n = cost.size(), groups = static_cast<std::size_t>(stages);
  std::vector<double> before(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) before[i + 1] = before[i] + cost[i];
  std::vector<std::vector<double>> best(groups + 1, std::vector<double>(n + 1, std::numeric_limits<double>::infinity()));
  std::vector<std::vector<std::uint32_t>> from(groups + 1, std::vector<std::uint32_t>(n + 1, 0));
  best[0][0] = 0;
  for (std::size_t g = 1; g <= groups; ++g) {
    for (std::size_t end = g; end <= n; ++end) {
      for (std::size_t begin = g - 1; begin < end; ++begin) {
        const double sum = before[end] - before[begin], total = best[g - 1][begin] + sum * sum;
        // A little slack: of equal costs, earlier stages get more layers.
        if (total <= best[g][end] * (1 + 1e-12)) {
          best[g][end] = total;
          from[g][end] = static_cast<std::uint32_t>(begin);
        }
      }
    }
  }
  std::vector<std::uint32_t> sizes(groups);
  std::size_t end = n;
  for (std::size_t g = groups; g > 0; --g) {
    sizes[g - 1] = static_cast<std::uint32_t>(end - from[g][end]);
    end = from[g][end];
  }
  return sizes;
}

std::vector<double> layer_operations(const Program& program, const Layout& layout) {
  std::vector<double> cost;
  for (OpId o : program.module.graph(program.module.main_graph()).ops) {
    if (!counts(program, layout, o)) continue;
    const std::size_t layer = program.layer_of(o);
    if (cost.size() <= layer) cost.resize(layer + 1, 0);
    cost[layer] += operations_of(program.module, o);
  }
  return cost;
}

double operations_of(const ir::Module& m, ir::OpId o) {
  const ir::OpRow& row = m.row(o);
  double elements = 0;
  for (ValueId v : m.results(o)) elements += static_cast<double>(ir::elements_of(m.type_of(v).shape));
  if (!row.cost) return elements;
  std::vector<ir::TypeId> types;
  for (ValueId v : m.operands(o)) types.push_back(m.value(v).type);
  ir::Inference in(m, row, types, m.attributes(o), m.graphs(o), m.op(o).in_place);
  for (ValueId v : m.results(o)) in.result(m.type_of(v));
  return row.cost(in).operations;
}

}  // namespace pando::transform
