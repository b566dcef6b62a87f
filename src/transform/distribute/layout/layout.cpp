#include "transform/distribute/layout/layout.h"

#include "ir/error.h"
#include "ir/rows/subscripts.h"
#include "transform/distribute/layout/derivatives.h"
#include "transform/distribute/layout/layout_memo.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

namespace pando::transform {

namespace {

using ir::Module;
using ir::OpId;
using ir::Subscripts;
using ir::ValueId;
using Occurrence = Subscripts::At;
using Sums = Subscripts::Sums;

constexpr const char* kAxisNames[] = {"data", "expert", "context", "tensor", "microbatch"};

// Whether a name is meant by one of a strategy's, which may have a * in it.
bool is_meant(std::string_view by, std::string_view name) {
  const std::size_t star = by.find('*');
  if (star == std::string_view::npos) return by == name;
  return name.size() + 1 >= by.size() && name.starts_with(by.substr(0, star)) && name.ends_with(by.substr(star + 1));
}

// What the strategy says of a weight: its own name before those with a *.
std::optional<std::int32_t> cut_of(const Strategy& strategy, std::string_view name) {
  if (const auto own = strategy.cut.find(std::string(name)); own != strategy.cut.end()) return own->second;
  for (const auto& [by, dim] : strategy.cut) {
    if (is_meant(by, name)) return dim;
  }
  return std::nullopt;
}

// Propagates along one axis, op by op.
class AxisPass {
 public:
  AxisPass(const Program& program, const Strategy& strategy, OpSubscripts& subscripts, Layout& layout, Axis axis,
           const std::vector<bool>& update)
      : program_(program),
        m_(program.module),
        strategy_(strategy),
        subscripts_(subscripts),
        layout_(layout),
        axis_(axis),
        n_(layout.sizes[axis]),
        update_(update),
        free_(m_.value_count(), false),
        parameter_(m_.value_count(), false),
        transposed_by_(m_.value_count()) {}

  void run() {
    const ir::Graph& main = m_.graph(m_.main_graph());
    for (std::size_t i = 0; i < main.inputs.size(); ++i) input(i, main.inputs[i]);
    for (OpId o : main.ops) op(o);
    layout_.output.resize(main.outputs.size());
    layout_.final.resize(main.updated_inputs.size());
    for (std::size_t i = 0; i < main.outputs.size(); ++i) layout_.output[i][axis_] = at_end(main.outputs[i]);
    for (std::size_t i = 0; i < main.updated_inputs.size(); ++i) {
      const Spec want = raw(main.inputs[i]);
      layout_.final[i][axis_] = want;
      if (resolved(main.updated_inputs[i]).is_partial()) resolve(main.updated_inputs[i], want);
    }
  }

 private:
  Spec& raw(ValueId v) { return layout_.raw[v.index()][axis_]; }
  Spec& resolved(ValueId v) { return layout_.resolved[v.index()][axis_]; }
  Spec& demand(OpId o, std::size_t i) { return layout_.demand[m_.op(o).operand_begin + i][axis_]; }
  const ir::Shape& shape(ValueId v) const { return m_.type_of(v).shape; }
  bool is_update(OpId o) const { return o.index() < update_.size() && update_[o.index()]; }

  void set(ValueId v, Spec s) { raw(v) = resolved(v) = s; }

  void input(std::size_t i, ValueId v) {
    const bool by_sample = axis_ == kData || axis_ == kExpert || axis_ == kTime;
    const std::int32_t dim = Program::dim_of(by_sample ? program_.batch_dim : program_.sequence_dim, i);
    if ((by_sample || axis_ == kContext) && dim >= 0) {
      must_divide(v, dim);
      set(v, Spec::along(dim));
      return;
    }
    if (program_.is_batch(i)) return;
    parameter_[v.index()] = true;
    if (axis_ == kExpert && Program::dim_of(program_.expert_dim, i) >= 0) {
      must_divide(v, program_.expert_dim[i]);
      set(v, Spec::along(program_.expert_dim[i]));
      return;
    }
    if (axis_ == kTensor) tensor_parameter(v);
    if (axis_ == kContext) free_[v.index()] = true;
    if (axis_ != kData || !layout_.stored_in_parts[v.index()]) return;
    const std::int64_t kept = storage_dim(v);
    layout_.stored_in_parts[v.index()] = kept >= 0;
    if (kept >= 0) set(v, Spec::along(kept));
  }

  void tensor_parameter(ValueId v) {
    const std::optional<std::int32_t> dim = cut_of(strategy_, m_.name_of(v));
    if (!dim) {
      free_[v.index()] = true;
    } else if (*dim >= 0) {
      must_divide(v, *dim);
      set(v, Spec::along(*dim));
    }
  }

  void must_divide(ValueId v, std::int32_t dim) const {
    const ir::Shape& s = shape(v);
    if (static_cast<std::size_t>(dim) < s.size() && s[static_cast<std::size_t>(dim)] % n_ == 0) return;
    ir::reject(ir::ErrorClass::value, "degree-does-not-divide", "dimension {} of '{}' {} does not divide by {} ({} axis)", dim,
               m_.name_of(v), ir::to_string(s), n_, kAxisNames[axis_]);
  }

  // The dimension that a weight or state is cut along over the data axis: the largest that divides and is whole on other axes.
  std::int64_t storage_dim(ValueId v) const {
    const ir::Shape& s = shape(v);
    std::int64_t best = -1;
    for (std::size_t d = 0; d < s.size(); ++d) {
      bool whole = s[d] % n_ == 0;
      for (std::size_t a = 0; a < kAxes; ++a) {
        const Spec& other = layout_.raw[v.index()][a];
        whole &= a == axis_ || !other.is_sharded() || other.dim != static_cast<std::int8_t>(d);
      }
      if (whole && (best < 0 || s[d] > s[static_cast<std::size_t>(best)])) best = static_cast<std::int64_t>(d);
    }
    return best;
  }

  // A weight that is kept in parts, used as a whole.
  bool gathers(OpId o, ValueId v) const {
    return axis_ == kData && parameter_[v.index()] && layout_.stored_in_parts[v.index()] && !is_update(o);
  }
  Spec seen(OpId o, std::size_t i) {
    const ValueId v = m_.operand(o, i);
    return gathers(o, v) ? Spec{} : resolved(v);
  }

  Spec at_end(ValueId v) {
    Spec s = resolved(v);
    if (s.is_partial() || (s.is_sharded() && s.outer != 1)) s = {};
    if (axis_ == kTime && strategy_.join_outputs) s = {};
    take(v, s);
    return s;
  }

  // A use of `v` as `want`: sums are made, free weights are laid out.
  void take(ValueId v, Spec want) {
    if (resolved(v).is_partial() && !want.is_partial()) resolve(v, want);
    if (!free_[v.index()]) return;
    free_[v.index()] = false;
    if (transposed_by_[v.index()].valid() && !take_transposed(transposed_by_[v.index()], want)) return;
    if (want.is_sharded()) set(v, want);
  }
  // A weight that a product takes transposed. Whether it can lie as that wants it.
  bool take_transposed(OpId o, Spec want) {
    const ValueId w = m_.operand(o, 0);
    if (!free_[w.index()]) return false;
    free_[w.index()] = false;
    if (!want.is_sharded()) return true;
    const auto dim = m_.attributes(o).ints("permutation")[static_cast<std::size_t>(want.dim)];
    set(w, Spec::along(dim, want.outer));
    demand(o, 0) = raw(w);
    return true;
  }
  bool transposes_free_weight(OpId o) const {
    if (axis_ != kTensor || is_update(o) || m_.row(o).view_form != ir::ViewForm::permuted) return false;
    const ValueId w = m_.operand(o, 0);
    return free_[w.index()] && parameter_[w.index()] && shape(w).size() == 2;
  }
  void resolve(ValueId v, Spec want) {
    const bool whole = axis_ == kTime || (axis_ == kData && strategy_.zero == 1);
    resolved(v) = whole ? Spec{} : want;
  }

  void use(OpId o, std::size_t i, Spec want) {
    demand(o, i) = want;
    const ValueId v = m_.operand(o, i);
    if (!gathers(o, v)) take(v, want);
    // Exchanged between experts once, for all who come later.
    const bool exchanged = axis_ == kExpert && want.is_sharded() && resolved(v).is_sharded() && resolved(v) == raw(v) && want != raw(v);
    if (exchanged && m_.value(v).producer.valid()) resolved(v) = want;
  }

  void adopt_from_weight(OpId o) {
    for (ValueId v : m_.operands(o)) {
      if (!free_[v.index()] || !parameter_[v.index()]) continue;
      const ValueId w = layout_.weight_of[v.index()];
      if (!w.valid() || w == v || shape(w) != shape(v)) continue;
      free_[v.index()] = false;
      set(v, raw(w));
    }
  }

  void op(OpId o) {
    if (ir::loads_stream(m_, o)) {
      load(o);
      return;
    }
    if (axis_ == kTime && program_.is_ahead(o)) {
      whole(o);
      return;
    }
    if (is_update(o)) adopt_from_weight(o);
    if (m_.row(o).bundles) {
      bundle(o);
      return;
    }
    if (transposes_free_weight(o)) {
      // How it lies, the product says that takes it.
      const ValueId r = m_.result(o);
      free_[r.index()] = parameter_[r.index()] = true;
      transposed_by_[r.index()] = o;
      return;
    }
    const Subscripts& subscripts = subscripts_.of(o);
    if (!subscripts.whole.empty() || (axis_ == kTime && is_update(o))) {
      note_whole(o, subscripts.whole);
      whole(o);
      return;
    }
    if (!is_update(o) && sum_passes(o, subscripts.sums)) {
      for (std::size_t i = 0; i < m_.operands(o).size(); ++i) use(o, i, seen(o, i));
      for (ValueId r : m_.results(o)) set(r, Spec::sum());
      return;
    }
    const Choice c = choose(o, subscripts);
    if (!c.found) {
      whole(o);
      return;
    }
    in_parts(o, subscripts, c);
    if (axis_ == kTensor && strategy_.sequence_parallel) positions_of_sums(o);
  }

  void load(OpId o) {
    const auto stream = std::get<ir::HostStreamId>(*m_.attributes(o).find("stream"));
    const std::int32_t dim =
        axis_ == kData || axis_ == kExpert || axis_ == kTime ? Program::dim_of(program_.stream_batch_dim, stream.index()) : -1;
    if (dim >= 0) must_divide(m_.result(o), dim);
    set(m_.result(o), dim >= 0 ? Spec::along(dim) : Spec{});
  }

  void whole(OpId o) {
    for (std::size_t i = 0; i < m_.operands(o).size(); ++i) use(o, i, {});
    for (ValueId r : m_.results(o)) set(r, {});
  }

  void note_whole(OpId o, std::string_view reason) {
    bool any = false;
    for (std::size_t i = 0; n_ > 1 && i < m_.operands(o).size(); ++i) any = any || !seen(o, i).is_replicated();
    if (any && !reason.empty()) layout_.whole.push_back({o, axis_, reason});
  }

  bool sum_passes(OpId o, Sums sums) {
    if (sums != Sums::every && sums != Sums::first) return false;
    for (std::size_t i = 0; i < m_.operands(o).size(); ++i) {
      const Spec s = seen(o, i);
      const bool must = sums == Sums::every || i == 0;
      if (must ? !s.is_partial() : !s.is_replicated()) return false;
    }
    return !m_.operands(o).empty();
  }

  // The sum of a block's output stays in parts of its positions.
  void positions_of_sums(OpId o) {
    for (ValueId r : m_.results(o)) {
      const ir::Shape& s = shape(r);
      const bool divides = s.size() == 3 && s[1] % n_ == 0 && !is_cut_by_others(r, 1, 1);
      if (resolved(r).is_partial() && divides && !is_update(o)) resolved(r) = Spec::along(1);
    }
  }

  struct Choice {
    bool found = false;
    std::uint8_t subscript = 0;
    std::int64_t outer = 1;
    double cost = std::numeric_limits<double>::infinity();
  };

  static const Occurrence* find(const std::vector<Occurrence>& list, std::uint8_t subscript) {
    const auto it = std::find_if(list.begin(), list.end(), [&](const Occurrence& x) { return x.subscript == subscript; });
    return it == list.end() ? nullptr : &*it;
  }
  static Spec spec_at(const Occurrence& x, const Choice& c) { return Spec::along(x.dim, x.outer >= 0 ? x.outer : c.outer); }

  bool divides(const Occurrence& x, const Choice& c, ValueId v) const {
    std::int64_t size = shape(v)[static_cast<std::size_t>(x.dim)];
    const std::int64_t outer = x.outer >= 0 ? x.outer : c.outer;
    if (size % outer != 0) return false;
    size /= outer;
    // What other axes leave of it.
    for (std::size_t a = 0; a < kAxes; ++a) {
      const Spec& other = layout_.resolved[v.index()][a];
      if (a != axis_ && other.is_sharded() && other.dim == x.dim && other.outer == outer)
        size = size % layout_.sizes[a] == 0 ? size / layout_.sizes[a] : 1;
    }
    return size % n_ == 0;
  }
  bool divides(OpId o, const Subscripts& l, const Choice& c) const {
    const auto all = [&](const auto& lists, std::span<const ValueId> values) {
      for (std::size_t i = 0; i < lists.size(); ++i) {
        const Occurrence* x = find(lists[i], c.subscript);
        if (x && !divides(*x, c, values[i])) return false;
      }
      return true;
    };
    return all(l.operands, m_.operands(o)) && all(l.results, m_.results(o));
  }

  bool is_cut_by_others(ValueId v, std::int64_t dim, std::int64_t outer) const {
    for (std::size_t a = 0; a < kAxes; ++a) {
      const Spec& other = layout_.resolved[v.index()][a];
      if (a != axis_ && layout_.sizes[a] > 1 && other.is_sharded() && other.dim == dim && other.outer == outer) return true;
    }
    return false;
  }

  // Two axes cut one dimension in the order of the axes. Cutting it further where it is cut already would be another order, so that is left
  // alone; but for experts, from whom samples come back as they went.
  bool keeps_order(OpId o, const Subscripts& l, const Choice& c) {
    for (std::size_t i = 0; axis_ != kExpert && i < l.operands.size(); ++i) {
      const Occurrence* x = find(l.operands[i], c.subscript);
      if (!x) continue;
      const Spec want = spec_at(*x, c);
      if (seen(o, i) != want && is_cut_by_others(m_.operand(o, i), want.dim, want.outer)) return false;
    }
    return true;
  }

  // Elements that must be gathered for a choice; between experts, sums count, too.
  double cost(OpId o, const Subscripts& l, const Choice& c) {
    double sum = 0;
    for (std::size_t i = 0; i < l.operands.size(); ++i) {
      const ValueId v = m_.operand(o, i);
      const Occurrence* x = find(l.operands[i], c.subscript);
      const Spec s = seen(o, i);
      if (!s.is_sharded() || (x && spec_at(*x, c) == s)) continue;
      const bool fixed = parameter_[v.index()] && (axis_ == kTensor || axis_ == kExpert);
      sum += static_cast<double>(ir::elements_of(shape(v))) * (fixed ? 1e9 : 1);
    }
    for (std::size_t i = 0; axis_ == kExpert && i < l.results.size(); ++i) {
      if (!find(l.results[i], c.subscript)) sum += static_cast<double>(ir::elements_of(shape(m_.result(o, i))));
    }
    return sum;
  }

  void consider(OpId o, const Subscripts& l, Choice c, double extra, Choice& best) {
    if (l.is_blocked(c.subscript) || !divides(o, l, c) || !keeps_order(o, l, c)) return;
    c.found = true;
    c.cost = cost(o, l, c) + extra;
    if (c.cost < best.cost) best = c;
  }

  // Updates run in the parts in which their weight lies; over the data axis, with ZeRO, in those in which it is kept, or would be. The
  // dimension; -1: whole.
  std::int64_t dim_of_update(ValueId w) {
    if (axis_ == kData) return strategy_.zero > 0 ? storage_dim(w) : -1;
    return raw(w).is_sharded() && raw(w).outer == 1 ? raw(w).dim : -1;
  }
  void as_its_weight(OpId o, const Subscripts& l, ValueId w, Choice& best) {
    const std::int64_t dim = dim_of_update(w);
    for (std::size_t i = 0; dim >= 0 && i < l.operands.size(); ++i) {
      if (shape(m_.operand(o, i)) != shape(w)) continue;
      for (const Occurrence& x : l.operands[i]) {
        if (x.dim == dim) consider(o, l, {false, x.subscript, 1}, 0, best);
      }
    }
  }

  // By what may be a weight.
  bool is_product(OpId o) const {
    const ir::OpRow& row = m_.row(o);
    return ir::multiplies_by_weight(row) && (row.product == ir::Product::windows || shape(m_.operand(o, 1)).size() == 2);
  }

  Choice choose(OpId o, const Subscripts& l) {
    Choice best;
    if (const ValueId w = is_update(o) ? layout_.weight_of_op[o.index()] : ValueId(); w.valid()) {
      as_its_weight(o, l, w, best);
      return best;
    }
    const bool by_weight = axis_ == kTensor && is_product(o) && parameter_[m_.operand(o, 1).index()] && free_[m_.operand(o, 1).index()];
    for (std::size_t i = 0; i < l.operands.size(); ++i) {
      const Spec s = seen(o, i);
      if (!s.is_sharded()) continue;
      for (const Occurrence& x : l.operands[i]) {
        if (x.dim != s.dim || (x.outer >= 0 && x.outer != s.outer)) continue;
        // A weight is cut by rows or columns; rows of the other operand are not what the tensor axis is for.
        const bool weight_whole = by_weight && !find(l.operands[1], x.subscript);
        if (!weight_whole) consider(o, l, {false, x.subscript, s.outer}, 0, best);
      }
    }
    if (by_weight && !best.found && !l.operands[1].empty()) {
      const std::uint8_t columns = l.operands[1].back().subscript;
      consider(o, l, {false, columns, 1}, 0, best);
    }
    return best;
  }

  void in_parts(OpId o, const Subscripts& l, const Choice& c) {
    for (std::size_t i = 0; i < l.operands.size(); ++i) {
      const Occurrence* x = find(l.operands[i], c.subscript);
      use(o, i, x ? spec_at(*x, c) : Spec{});
    }
    for (std::size_t i = 0; i < l.results.size(); ++i) {
      const Occurrence* x = find(l.results[i], c.subscript);
      set(m_.result(o, i), x ? spec_at(*x, c) : l.is_alike(i) ? Spec{} : Spec::sum());
    }
  }

  // Each weight for itself, as it lies.
  void bundle(OpId o) {
    const std::size_t n = m_.results(o).size();
    for (std::size_t i = 0; i < n; ++i) {
      Spec s = seen(o, i);
      if (s.is_partial()) s = {};
      if (axis_ == kData && strategy_.zero > 0 && s.is_replicated()) {
        const std::int64_t dim = storage_dim(m_.operand(o, i));
        if (dim >= 0) s = Spec::along(dim);
      }
      if (s.is_sharded() && seen(o, n + i) != s && is_cut_by_others(m_.operand(o, n + i), s.dim, s.outer)) s = {};
      use(o, i, s);
      use(o, n + i, s);
      set(m_.result(o, i), s);
    }
  }

  const Program& program_;
  const Module& m_;
  const Strategy& strategy_;
  OpSubscripts& subscripts_;
  Layout& layout_;
  Axis axis_;
  std::int64_t n_;
  const std::vector<bool>& update_;
  std::vector<bool> free_, parameter_;
  // By value: the op that transposes a weight whose layout is not known yet.
  std::vector<OpId> transposed_by_;
};

class Builder {
 public:
  Builder(const Program& program, const Strategy& strategy, LayoutMemo& memo)
      : program_(program), m_(program.module), s_(strategy), memo_(memo) {}

  Layout run() {
    check_sizes();
    check_cuts();
    const LayoutMemo::OnTime& on_time = this->on_time();
    l_ = on_time.layout;
    l_.sizes = sizes();
    storage();
    for (Axis a : {kExpert, kContext, kTensor, kData}) {
      if (l_.sizes[a] > 1) AxisPass(program_, s_, memo_.subscripts, l_, a, on_time.update).run();
    }
    return std::move(l_);
  }

 private:
  const ir::Graph& main() const { return m_.graph(m_.main_graph()); }
  const std::vector<OpId>& ops() const { return main().ops; }

  std::array<std::int64_t, kAxes> sizes() const { return {s_.data, s_.expert, s_.context, s_.tensor, s_.microbatches}; }
  void check_sizes() const {
    const std::array<std::int64_t, kAxes> all = sizes();
    for (std::size_t a = 0; a < kAxes; ++a) {
      if (all[a] < 1) ir::reject(ir::ErrorClass::value, "degree", "a degree of {} ({} axis)", all[a], kAxisNames[a]);
    }
  }

  const LayoutMemo::OnTime& on_time() {
    const std::pair<std::int64_t, bool> key{s_.microbatches, s_.join_outputs};
    if (const auto known = memo_.on_time.find(key); known != memo_.on_time.end()) return known->second;
    l_.sizes[kTime] = s_.microbatches;
    l_.raw.resize(m_.value_count());
    l_.resolved.resize(m_.value_count());
    std::size_t operands = 0;
    for (OpId o : ops()) operands = std::max<std::size_t>(operands, m_.op(o).operand_begin + m_.op(o).operand_count);
    l_.demand.resize(operands);
    l_.output.resize(main().outputs.size());
    l_.final.resize(main().updated_inputs.size());
    l_.when.assign(m_.op_count(), When::before);
    l_.stored_in_parts.assign(m_.value_count(), false);
    l_.weight_of.assign(m_.value_count(), ValueId());
    l_.weight_of_op.assign(m_.op_count(), ValueId());
    std::vector<bool> update(m_.op_count(), false);
    for (OpId o : ops()) update[o.index()] = program_.phase_of(o) == Phase::update;
    AxisPass(program_, s_, memo_.subscripts, l_, kTime, update).run();
    if (!classify(update)) by_dependence(update);
    components(update);
    l_.derivative_of = derivatives_of(program_, l_.when);
    return memo_.on_time.emplace(key, LayoutMemo::OnTime{std::move(l_), std::move(update)}).first->second;
  }

  void check_cuts() const {
    for (const auto& [by, dim] : s_.cut) {
      bool any = false;
      for (std::size_t i = 0; i < main().inputs.size(); ++i) {
        const ValueId v = main().inputs[i];
        if (program_.is_batch(i) || !is_meant(by, m_.name_of(v))) continue;
        any = true;
        const auto rank = static_cast<std::int64_t>(m_.type_of(v).shape.size());
        if (dim < -1 || dim >= rank) {
          ir::reject(ir::ErrorClass::value, "cut", "'{}' is cut along dimension {}; it is {}", m_.name_of(v), dim,
                     ir::to_string(m_.type_of(v).shape));
        }
      }
      if (!any) ir::reject(ir::ErrorClass::value, "cut", "no weight is named '{}'", by);
    }
  }

  // False: with one microbatch, ops that need the whole batch.
  bool classify(std::vector<bool>& update) {
    const std::vector<bool> said = update;
    for (OpId o : ops()) {
      if (program_.is_ahead(o)) {
        l_.when[o.index()] = When::before;
        continue;
      }
      bool each = false, behind = program_.phase_of(o) == Phase::update;
      for (ValueId r : m_.results(o)) each |= !l_.raw[r.index()][kTime].is_replicated();
      for (std::size_t i = 0; i < m_.operands(o).size(); ++i) {
        const ValueId v = m_.operand(o, i);
        const OpId p = m_.value(v).producer;
        const Spec want = l_.demand[m_.op(o).operand_begin + i][kTime];
        each |= !want.is_replicated();
        behind |= want.is_replicated() && !l_.raw[v.index()][kTime].is_replicated();
        behind |= p.valid() && l_.when[p.index()] == When::behind;
      }
      if (each && behind && s_.microbatches == 1) {
        update = said;
        return false;
      }
      if (each && behind) {
        ir::reject(ir::ErrorClass::value, "whole-batch", "{} '{}' works on a microbatch, but takes a value of the whole batch",
                   m_.row(o).name, m_.name_of(o));
      }
      l_.when[o.index()] = each ? When::each : behind ? When::behind : When::before;
      if (behind) update[o.index()] = true;
    }
    return true;
  }

  // The only microbatch is the whole batch: what depends on it runs in it, updates run behind.
  void by_dependence(const std::vector<bool>& update) {
    for (auto* specs : {&l_.raw, &l_.resolved, &l_.demand, &l_.output, &l_.final}) {
      for (Specs& s : *specs) s[kTime] = {};
    }
    std::vector<bool> depends(m_.value_count(), false);
    for (std::size_t i = 0; i < main().inputs.size(); ++i) depends[main().inputs[i].index()] = program_.is_batch(i);
    for (OpId o : ops()) {
      bool any = ir::loads_stream(m_, o);
      for (ValueId v : m_.operands(o)) any = any || depends[v.index()];
      for (ValueId v : m_.results(o)) depends[v.index()] = any;
      l_.when[o.index()] = update[o.index()] ? When::behind : any ? When::each : When::before;
    }
  }

  // Ops that run behind, joined by the tensors between them; scalars join nothing.
  void components(const std::vector<bool>& update) {
    std::vector<std::uint32_t> root(m_.value_count());
    std::iota(root.begin(), root.end(), 0u);
    const auto top = [&](std::uint32_t v) {
      while (root[v] != v) v = root[v] = root[root[v]];
      return v;
    };
    std::vector<bool> used_before(m_.value_count(), false);
    for (OpId o : ops()) {
      for (ValueId v : m_.operands(o)) used_before[v.index()] = used_before[v.index()] || !update[o.index()];
      if (!update[o.index()] || m_.row(o).bundles) continue;
      std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
      const auto join = [&](ValueId v) {
        if (ir::elements_of(m_.type_of(v).shape) <= 1) return;
        if (first == std::numeric_limits<std::uint32_t>::max()) {
          first = v.value;
        } else {
          root[top(v.value)] = top(first);
        }
      };
      for (ValueId v : m_.operands(o)) join(v);
      for (ValueId v : m_.results(o)) join(v);
    }
    std::vector<ValueId> weight(m_.value_count());
    for (std::size_t i = 0; i < main().inputs.size(); ++i) {
      const ValueId v = main().inputs[i];
      if (!program_.is_batch(i) && used_before[v.index()] && main().updated_inputs[i] != v) weight[top(v.value)] = v;
    }
    for (ValueId v : main().inputs) l_.weight_of[v.index()] = used_before[v.index()] ? v : weight[top(v.value)];
    for (OpId o : ops()) {
      if (!update[o.index()] || m_.results(o).empty() || m_.row(o).bundles) continue;
      const ValueId r = m_.result(o);
      if (ir::elements_of(m_.type_of(r).shape) > 1) l_.weight_of_op[o.index()] = weight[top(r.value)];
    }
  }

  void storage() {
    if (s_.zero < 0 || s_.zero > 3) ir::reject(ir::ErrorClass::value, "zero", "ZeRO has the stages 1, 2 and 3, not {}", s_.zero);
    if (s_.zero == 0 || s_.data == 1) return;
    for (std::size_t i = 0; i < main().inputs.size(); ++i) {
      const ValueId v = main().inputs[i];
      if (program_.is_batch(i) || main().updated_inputs[i] == v) continue;
      const bool weight = l_.weight_of[v.index()] == v;
      bool divides = false;
      for (std::int64_t d : m_.type_of(v).shape) divides |= d % (s_.data * (s_.tensor > 1 ? s_.tensor : 1)) == 0;
      l_.stored_in_parts[v.index()] = divides && (!weight || s_.zero == 3);
    }
  }

  const Program& program_;
  const Module& m_;
  const Strategy& s_;
  LayoutMemo& memo_;
  Layout l_;
};

}  // namespace

std::string_view name_of(Axis axis) { return kAxisNames[axis]; }

Layout lay_out(const Program& program, const Strategy& strategy) {
  LayoutMemo memo(program);
  return lay_out(program, strategy, memo);
}
Layout lay_out(const Program& program, const Strategy& strategy, LayoutMemo& memo) { return Builder(program, strategy, memo).run(); }

LayoutKey layout_key_of(const Strategy& s) {
  return {
      {s.data, s.expert, s.context, s.tensor, s.microbatches}, s.zero, s.sequence_parallel, s.join_outputs, {s.cut.begin(), s.cut.end()}};
}

ir::Shape local_shape(const ir::Shape& whole, const Specs& specs, const std::array<std::int64_t, kAxes>& sizes, std::string_view name) {
  ir::Shape s = whole;
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (!specs[a].is_sharded()) continue;
    std::int64_t& d = s[static_cast<std::size_t>(specs[a].dim)];
    if (d % sizes[a] != 0) {
      ir::reject(ir::ErrorClass::value, "degree-does-not-divide",
                 "dimension {} of '{}' {} does not divide by all the degrees that cut it ({} axis: {})", specs[a].dim, name,
                 ir::to_string(whole), kAxisNames[a], sizes[a]);
    }
    d /= sizes[a];
  }
  return s;
}

}  // namespace pando::transform
