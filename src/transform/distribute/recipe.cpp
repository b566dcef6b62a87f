#include "transform/distribute/recipe.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/op_table.h"
#include "transform/distribute/recompute.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace pando::transform {

namespace {

using ir::Attributes;
using ir::Module;
using ir::OpId;
using ir::ValueId;

class RecipeBuilder {
 public:
  RecipeBuilder(const Program& program, const Strategy& strategy, const Layout& layout, const Stages& stages, const Mesh& mesh,
                bool splits_backward, Module& out)
      : program_(program),
        m_(program.module),
        strategy_(strategy),
        l_(layout),
        s_(stages),
        mesh_(mesh),
        splits_(splits_backward),
        out_(out) {
    r_.cells.resize(static_cast<std::size_t>(s_.count));
    r_.sends.resize(static_cast<std::size_t>(s_.count));
    r_.located.reserve(m_.value_count() + m_.value_count() / 2);
    of_value_.assign(m_.value_count(), kNone);
    recomputed_ = recomputed_values(program, strategy, layout);
    for (const SumOfStages& sum : s_.sums) {
      for (OpId o : sum.ops) sums_[o] = o == sum.last ? &sum : nullptr;
    }
  }

  Recipe run() {
    for (OpId o : main().ops) {
      if (const auto sum = sums_.find(o); sum != sums_.end()) {
        if (sum->second) bring_together(*sum->second);
      } else if (!is_portable(o)) {
        op(o, stage_of(o), segment_of(o));
      }
    }
    for (std::size_t i = 0; i < main().outputs.size(); ++i) {
      const ValueId v = main().outputs[i];
      const std::int32_t stage = std::max(0, home(v));
      r_.outputs.push_back({get(v, l_.output[i], stage, Segment::behind)});
    }
    r_.updated_inputs.resize(main().inputs.size());
    for (std::size_t i = 0; i < main().inputs.size(); ++i) updated_inputs(i);
    if (strategy_.offload_activations) offload_activations(r_, mesh_, out_);
    for (Step& s : r_.before) s.for_all = !s.results.empty() && r_.located[s.results[0]].each;
    return std::move(r_);
  }

 private:
  const ir::Graph& main() const { return m_.graph(m_.main_graph()); }
  std::int32_t home(ValueId v) const { return s_.home[v.index()]; }
  std::int32_t stage_of(OpId o) const { return s_.of_op[o.index()]; }
  bool is_portable(OpId o) const { return !m_.results(o).empty() && s_.portable[m_.result(o).index()]; }
  const Specs& raw(ValueId v) const { return l_.raw[v.index()]; }
  const Specs& resolved(ValueId v) const { return l_.resolved[v.index()]; }

  Segment segment_of(OpId o) const {
    switch (l_.when[o.index()]) {
      case When::before: return Segment::before;
      case When::behind: return Segment::behind;
      case When::each: break;
    }
    if (program_.phase_of(o) == Phase::forward) return Segment::forward;
    return splits_ && s_.for_weights[o.index()] ? Segment::weights : Segment::backward;
  }
  static bool repeats(Segment s) { return s != Segment::before && s != Segment::behind; }

  std::vector<Step>& steps(std::int32_t stage, Segment segment) {
    if (segment == Segment::before) return r_.before;
    if (segment == Segment::behind) return r_.behind;
    return r_.cells[static_cast<std::size_t>(stage)][static_cast<std::size_t>(segment)];
  }

  // --- located values

  // `where`: 0 for what is there in every segment behind, else one segment's own.
  static std::uint32_t own(Segment s) { return 1 + static_cast<std::uint32_t>(s); }

  std::uint32_t add(ValueId v, const Specs& specs, std::int32_t stage, bool each, std::uint32_t where) {
    const auto id = static_cast<std::uint32_t>(r_.located.size());
    Located& x = r_.located.emplace_back();
    x.value = v;
    x.specs = specs;
    x.stage = stage;
    x.each = each;
    const ir::Type& whole = m_.type_of(v);
    x.shape = local_shape(whole.shape, specs, mesh_.sizes, m_.name_of(v));
    if (!mesh_.first_alone) x.name = out_.name(m_.name_of(v));
    type_ = whole;
    type_.shape = x.shape;
    x.types.reserve(static_cast<std::size_t>(mesh_.written()));
    for (std::int64_t r = 0; r < mesh_.written(); ++r) {
      type_.place.device = ir::Device::numbered(mesh_.device(stage, r));
      if (type_.place.tiles == ir::TileSet::undefined) type_.place.tiles = ir::TileSet::compute;
      x.types.push_back(out_.type(type_));
    }
    if (Known* const there = known(v, specs, stage, where)) {
      there->located = id;
    } else {
      known_.push_back({id, where, of_value_[v.index()]});
      of_value_[v.index()] = static_cast<std::uint32_t>(known_.size() - 1);
    }
    return id;
  }
  std::optional<std::uint32_t> find(ValueId v, const Specs& specs, std::int32_t stage, std::uint32_t where) {
    const Known* const there = known(v, specs, stage, where);
    return there == nullptr ? std::nullopt : std::optional(there->located);
  }
  // A value lies in few ways: they are a list.
  struct Known {
    std::uint32_t located, where, next;
  };
  Known* known(ValueId v, const Specs& specs, std::int32_t stage, std::uint32_t where) {
    for (std::uint32_t k = of_value_[v.index()]; k != kNone; k = known_[k].next) {
      const Located& x = r_.located[known_[k].located];
      if (known_[k].where == where && x.stage == stage && x.specs == specs) return &known_[k];
    }
    return nullptr;
  }

  // What a segment has made for itself; gradients of weights find what the pass before them has made.
  std::optional<std::uint32_t> find_own(ValueId v, const Specs& specs, std::int32_t stage, Segment segment) {
    const auto here = find(v, specs, stage, own(segment));
    return here || segment != Segment::weights ? here : find(v, specs, stage, own(Segment::backward));
  }

  // --- what a use takes

  std::uint32_t get(ValueId v, const Specs& want, std::int32_t stage, Segment segment) {
    if (const auto here = find_own(v, want, stage, segment)) return *here;
    if (recomputed_[v.index()] && stage == home(v) && (segment == Segment::backward || segment == Segment::weights))
      return again(v, want, segment);
    if (s_.portable[v.index()]) return convert(portable(v, stage), want, segment);
    if (is_off_chip(v) && stage == home(v)) return convert(fetched(v, segment), want, segment);
    std::uint32_t from = base(v, want, segment);
    if (r_.located[from].stage != stage) from = is_seen_anywhere(v) ? seen(v, stage) : arrive(from, stage);
    return convert(from, want, segment);
  }

  // Another view of all that is there before the first microbatch: a stage that gets the one has the other, too.
  bool is_seen_anywhere(ValueId v) const {
    const OpId p = m_.value(v).producer;
    if (!p.valid() || l_.when[p.index()] != When::before || m_.row(p).view != ir::View::of_first_operand) return false;
    if (m_.operands(p).size() != 1 || raw(v) != resolved(v)) return false;
    return ir::elements_of(m_.type_of(v).shape) == ir::elements_of(m_.type_of(m_.operand(p, 0)).shape);
  }
  std::uint32_t seen(ValueId v, std::int32_t stage) {
    if (!find(v, raw(v), stage, 0)) op(m_.value(v).producer, stage, Segment::before);
    return *find(v, raw(v), stage, 0);
  }

  // Computed again in a backward pass, from what that pass has.
  std::uint32_t again(ValueId v, const Specs& want, Segment segment) {
    const std::int32_t stage = home(v);
    auto made = find_own(v, raw(v), stage, segment);
    if (!made) {
      const OpId p = m_.value(v).producer;
      Step s = plain(p);
      for (std::size_t i = 0; i < m_.operands(p).size(); ++i) s.operands.push_back(get(m_.operand(p, i), demand(p, i), stage, segment));
      for (ValueId r : m_.results(p)) s.results.push_back(add(r, raw(r), stage, true, own(segment)));
      s.attributes = {attributes_of(p, s)};
      steps(stage, segment).push_back(std::move(s));
      made = find(v, raw(v), stage, own(segment));
    }
    const std::uint32_t from = want == raw(v) ? *made : convert(*made, resolved(v), segment);
    return convert(from, want, segment);
  }

  // As it is at home: the parts of a microbatch, their sum, or all of them joined.
  std::uint32_t base(ValueId v, const Specs& want, Segment segment) {
    const OpId p = m_.value(v).producer;
    if (is_off_chip(v)) return fetched(v, Segment::before);
    if (!p.valid()) {
      const std::uint32_t x = input(v);
      return raw(v)[kTime].is_sharded() && want[kTime].is_replicated() ? joined(x, segment) : x;
    }
    if (want == raw(v)) {
      if (const auto x = find(v, want, home(v), 0)) return *x;
    }
    if (raw(v)[kTime].is_partial()) return total(v);
    const auto x = find(v, resolved(v), home(v), 0);
    const std::uint32_t made = x ? *x : resolve(v, *find(v, raw(v), home(v), 0), segment_of(p));
    return raw(v)[kTime].is_sharded() && want[kTime].is_replicated() ? joined(made, segment) : made;
  }

  std::uint32_t input(ValueId v) {
    if (const auto x = find(v, raw(v), std::max(0, home(v)), 0)) return *x;
    return add_input(v, std::max(0, home(v)));
  }
  std::uint32_t add_input(ValueId v, std::int32_t stage) {
    const std::uint32_t x = add(v, raw(v), stage, raw(v)[kTime].is_sharded(), 0);
    r_.located[x].input = true;
    r_.inputs.push_back(x);
    return x;
  }

  bool is_off_chip(ValueId v) const {
    if (m_.value(v).producer.valid() || s_.portable[v.index()] || home(v) < 0 || program_.is_batch(m_.value(v).index)) return false;
    const ValueId w = l_.weight_of[v.index()];
    return w == v ? strategy_.offload_weights : w.valid() && strategy_.offload_optimizer;
  }

  // From its row, for one segment.
  std::uint32_t fetched(ValueId v, Segment segment) {
    const std::int32_t stage = home(v);
    const std::uint32_t where = own(segment);
    if (const auto here = find(v, raw(v), stage, where)) return *here;
    const std::uint32_t row = row_of(v);
    const std::uint32_t x = add(v, raw(v), stage, repeats(segment), where);
    Step s = step(Step::load_row, "remote_load", row, x);
    for (ir::BufferId b : r_.located[row].buffers) s.attributes.push_back(out_.intern({{"buffer", b}}));
    steps(stage, segment).push_back(std::move(s));
    return x;
  }
  std::uint32_t row_of(ValueId v) {
    const auto [it, added] = rows_.try_emplace(v.value, 0u);
    if (!added) return it->second;
    it->second = add_input(v, home(v));
    known(v, raw(v), home(v), 0)->where = kNone;
    add_buffers(r_.located[it->second], 1, out_);
    return it->second;
  }
  void store(std::uint32_t row, std::uint32_t x) {
    Step s = step(Step::store_row, "remote_store", x, row);
    for (ir::BufferId b : r_.located[row].buffers) s.attributes.push_back(out_.intern({{"buffer", b}}));
    r_.behind.push_back(std::move(s));
  }

  std::uint32_t portable(ValueId v, std::int32_t stage) {
    if (const auto x = find(v, raw(v), stage, 0)) return *x;
    const OpId p = m_.value(v).producer;
    if (!p.valid()) return add_input(v, stage);
    op(p, stage, l_.when[p.index()] == When::behind ? Segment::behind : Segment::before);
    return *find(v, raw(v), stage, 0);
  }

  // The running sum over microbatches, then over devices.
  std::uint32_t total(ValueId v) {
    const auto x = find(v, resolved(v), home(v), 0);
    return x ? *x : convert(*find(v, summed_specs(v), home(v), 0), resolved(v), Segment::behind, true);
  }
  // As the running sum is kept: with ZeRO 2, of each microbatch's part.
  Specs summed_specs(ValueId v) const {
    Specs specs = raw(v);
    specs[kTime] = {};
    if (strategy_.zero >= 2 && raw(v)[kData].is_partial()) specs[kData] = resolved(v)[kData];
    return specs;
  }

  std::uint32_t joined(std::uint32_t from, Segment) {
    const Place x = r_.located[from];
    Specs specs = x.specs;
    specs[kTime] = {};
    if (const auto there = find(x.value, specs, x.stage, 0)) return *there;
    const std::uint32_t to = add(x.value, specs, x.stage, false, 0);
    Step s = step(Step::join, "concat", from, to);
    s.dim = x.specs[kTime].dim;
    s.attributes = {out_.intern({{"axis", std::int64_t{s.dim}}})};
    if (is_there_before(x)) {
      r_.before.push_back(std::move(s));
    } else if (strategy_.join_outputs) {
      s.kind = Step::append;
      steps(x.stage, segment_of(m_.value(x.value).producer)).push_back(std::move(s));
    } else {
      r_.behind.push_back(std::move(s));
    }
    return to;
  }

  // On another stage, sent when it is made.
  std::uint32_t arrive(std::uint32_t from, std::int32_t stage) {
    const Place x = r_.located[from];
    if (const auto there = find(x.value, x.specs, stage, 0)) return *there;
    const std::uint32_t to = add(x.value, x.specs, stage, x.each, 0);
    Step s = transfer(from, to);
    const OpId p = m_.value(x.value).producer;
    if (x.each && p.valid() && is_there_before(x)) {
      r_.before.push_back(std::move(s));
    } else if (x.each) {
      const Segment made = p.valid() ? segment_of(p) : Segment::forward;
      r_.sends[static_cast<std::size_t>(x.stage)][static_cast<std::size_t>(made)].push_back(std::move(s));
    } else if (made_behind(x)) {
      r_.behind.push_back(std::move(s));
    } else {
      r_.before.push_back(std::move(s));
    }
    return to;
  }
  std::int32_t rank_of(std::int32_t stage) const { return mesh_.rank_of_stage[static_cast<std::size_t>(stage)]; }
  // To the stage of `to`; on one rank, nothing moves.
  Step transfer(std::uint32_t from, std::uint32_t to) {
    const std::int32_t stage = r_.located[to].stage;
    Step s = step(Step::send, "send", from, to);
    if (rank_of(r_.located[from].stage) == rank_of(stage)) {
      s.op = ir::op_kind("identity");
      s.attributes = {out_.intern({})};
      return s;
    }
    for (std::int64_t r = 0; r < mesh_.written(); ++r)
      s.attributes.push_back(out_.intern({{"device", std::int64_t{mesh_.device(stage, r)}}}));
    return s;
  }
  // Inputs, and what is loaded ahead: all microbatches' parts.
  bool is_there_before(const Place& x) const {
    const OpId p = m_.value(x.value).producer;
    return p.valid() ? l_.when[p.index()] == When::before : true;
  }
  // Sums over microbatches and what is joined of them, and what updates make.
  bool made_behind(const Place& x) const { return !is_there_before(x); }

  // --- from one layout to another

  Step step(Step::Kind kind, std::string_view op, std::uint32_t from, std::uint32_t to) const {
    Step s;
    s.kind = kind;
    s.op = ir::op_kind(op);
    s.operands = {from};
    s.results = {to};
    return s;
  }

  // Sums of a value that was just made.
  std::uint32_t resolve(ValueId v, std::uint32_t made, Segment segment) { return convert(made, resolved(v), segment, true); }

  // Axis by axis: cutting first, so that less is moved. `shared`: what comes out is for all segments.
  std::uint32_t convert(std::uint32_t from, const Specs& want, Segment segment, bool shared = false) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t a = 0; a < kTime; ++a) {
        const Spec have = r_.located[from].specs[a];
        if (have == want[a] || (pass == 0 && !have.is_replicated())) continue;
        from = along(from, static_cast<Axis>(a), want[a], segment, shared);
      }
    }
    const Located& x = r_.located[from];
    const bool for_all = !x.each && x.specs[kTime].is_replicated() && mesh_.sizes[kTime] > 1;
    return for_all && want[kTime].is_sharded() ? of_microbatch(from, want[kTime], segment) : from;
  }

  // Each microbatch's part of what is there for all of them.
  std::uint32_t of_microbatch(std::uint32_t from, Spec want, Segment segment) {
    const Place x = r_.located[from];
    Specs specs = x.specs;
    specs[kTime] = want;
    if (const auto there = find(x.value, specs, x.stage, own(segment))) return *there;
    if (want.outer != 1) {
      ir::reject(ir::ErrorClass::value, "layout", "'{}' is not cut into microbatches along one dimension", m_.name_of(x.value));
    }
    const std::uint32_t to = add(x.value, specs, x.stage, true, own(segment));
    Step s = step(Step::plain, "slice", from, to);
    const std::int64_t length = r_.located[to].shape[static_cast<std::size_t>(want.dim)];
    for (std::int64_t k = 0; k < mesh_.sizes[kTime]; ++k) {
      const ir::AttributesId part = out_.intern(
          {{"start", ir::Ints{k * length}}, {"stop", ir::Ints{(k + 1) * length}}, {"step", ir::Ints{1}}, {"axis", ir::Ints{want.dim}}});
      s.attributes.insert(s.attributes.end(), static_cast<std::size_t>(mesh_.written()), part);
    }
    steps(x.stage, segment).push_back(std::move(s));
    return to;
  }

  std::uint32_t along(std::uint32_t from, Axis axis, Spec want, Segment segment, bool shared) {
    const Place x = r_.located[from];
    Specs specs = x.specs;
    specs[axis] = want;
    const bool gathers_weight = x.input && l_.stored_in_parts[x.value.index()] && repeats(segment);
    // What does not change from microbatch to microbatch is done once.
    const bool once = !x.each && !gathers_weight;
    if (once && repeats(segment)) segment = Segment::before;
    const Spec have = x.specs[axis];
    // What was exchanged in the forward pass takes no more memory than what it was made of: the backward pass takes it, too.
    const bool keeps = have.is_sharded() && want.is_sharded() && !recomputed_[x.value.index()];
    const bool for_all = shared || (keeps && segment == Segment::forward) || segment == Segment::before;
    const std::uint32_t where = for_all ? 0 : own(segment);
    if (const auto there = find(x.value, specs, x.stage, where)) return *there;
    if (const auto there = keeps ? find(x.value, specs, x.stage, 0) : std::nullopt) return *there;
    const bool odd = (have.is_sharded() && outer_here(x, axis, have) != 1) || (want.is_sharded() && outer_here(x, axis, want) != 1);
    if (odd && have.is_sharded() && want.is_sharded()) return along(along(from, axis, {}, segment, shared), axis, want, segment, shared);
    const std::uint32_t to = add(x.value, specs, x.stage, !once, where);
    if (odd) {
      in_the_middle(from, to, axis, want, segment);
    } else {
      steps(x.stage, segment).push_back(conversion(from, to, axis, have, want));
    }
    return to;
  }

  // A dimension that is cut behind an outer factor: seen as two, moved, seen as one.
  void in_the_middle(std::uint32_t from, std::uint32_t to, Axis axis, Spec want, Segment segment) {
    Spec have = r_.located[from].specs[axis];
    const std::int32_t stage = r_.located[from].stage;
    Spec& cut = have.is_sharded() ? have : want;
    const std::int64_t outer = outer_here(r_.located[from], axis, cut);
    const auto two = [&](std::uint32_t like) {
      ir::Shape shape = r_.located[like].shape;
      const auto d = shape.begin() + cut.dim;
      *d /= outer;
      shape.insert(d, outer);
      return reshaped_like(like, std::move(shape));
    };
    const auto reshape = [&](std::uint32_t a, std::uint32_t b) {
      Step s = step(Step::plain, "reshape", a, b);
      s.attributes = {out_.intern({{"shape", ir::Ints(r_.located[b].shape)}})};
      steps(stage, segment).push_back(std::move(s));
    };
    const std::uint32_t before = two(from), behind = two(to);
    ++cut.dim;
    cut.outer = 1;
    reshape(from, before);
    steps(stage, segment).push_back(conversion(before, behind, axis, have, want));
    reshape(behind, to);
  }

  // The same values in another shape; nobody else finds it.
  std::uint32_t reshaped_like(std::uint32_t like, ir::Shape shape) {
    Located x = r_.located[like];
    x.input = false;
    x.shape = std::move(shape);
    for (ir::TypeId& t : x.types) {
      ir::Type type = out_.type(t);
      type.shape = x.shape;
      t = out_.type(type);
    }
    r_.located.push_back(std::move(x));
    return static_cast<std::uint32_t>(r_.located.size() - 1);
  }

  Step conversion(std::uint32_t from, std::uint32_t to, Axis axis, Spec have, Spec want) const {
    const auto collective = [&](std::string_view op, const Attributes& attributes) {
      Step s = step(Step::collective, op, from, to);
      s.axis = axis;
      s.attributes = {out_.intern(attributes)};
      return s;
    };
    const auto dim = [](Spec s) { return std::int64_t{s.dim}; };
    if (have.is_partial() && want.is_replicated()) return collective("all_reduce_across", {{"op", std::string("add")}});
    if (have.is_partial() && want.is_sharded())
      return collective("reduce_scatter_across", {{"op", std::string("add")}, {"dim", dim(want)}});
    if (have.is_sharded() && want.is_replicated()) return collective("all_gather_across", {{"dim", dim(have)}});
    if (have.is_sharded() && want.is_sharded())
      return collective("all_to_all_across", {{"split_dim", dim(want)}, {"concat_dim", dim(have)}});
    if (!have.is_replicated() || !want.is_sharded()) {
      ir::reject(ir::ErrorClass::value, "layout", "'{}' cannot become a sum of parts again", m_.name_of(r_.located[from].value));
    }
    return slice(from, to, axis, want);
  }

  // The factor of a dimension that lies before the cut, in this rank's part.
  std::int64_t outer_here(const Place& x, Axis axis, Spec s) const {
    std::int64_t outer = s.outer;
    for (std::size_t a = 0; a < kAxes; ++a) {
      const Spec& other = x.specs[a];
      if (a != axis && other.is_sharded() && other.dim == s.dim && other.outer < s.outer) outer /= mesh_.sizes[a];
    }
    return outer;
  }

  Step slice(std::uint32_t from, std::uint32_t to, Axis axis, Spec want) const {
    Step s = step(Step::plain, "slice", from, to);
    const std::int64_t length = r_.located[to].shape[static_cast<std::size_t>(want.dim)];
    for (std::int64_t r = 0; r < mesh_.written(); ++r) {
      const std::int64_t start = mesh_.coordinate(r, axis) * length;
      s.attributes.push_back(out_.intern(
          {{"start", ir::Ints{start}}, {"stop", ir::Ints{start + length}}, {"step", ir::Ints{1}}, {"axis", ir::Ints{want.dim}}}));
    }
    return s;
  }

  // --- ops

  Specs demand(OpId o, std::size_t i) const { return l_.demand[m_.op(o).operand_begin + i]; }

  void op(OpId o, std::int32_t stage, Segment segment) {
    if (m_.op(o).graph_count > 0) {
      ir::reject(ir::ErrorClass::value, "not-flat", "{} '{}' carries a graph; a program is flat before it is distributed", m_.row(o).name,
                 m_.name_of(o));
    }
    if (m_.row(o).bundles) {
      bundle(o);
      return;
    }
    Step s = plain(o);
    for (std::size_t i = 0; i < m_.operands(o).size(); ++i) s.operands.push_back(get(m_.operand(o, i), demand(o, i), stage, segment));
    for (ValueId v : m_.results(o)) s.results.push_back(add(v, raw(v), stage, repeats(segment) || raw(v)[kTime].is_sharded(), 0));
    if (has(m_.row(o).effects, ir::Effects::stream)) {
      stream(o, s);
    } else {
      s.attributes = {attributes_of(o, s)};
    }
    steps(stage, segment).push_back(std::move(s));
    for (ValueId v : m_.results(o)) finish(v, stage, segment);
  }

  // Each device loads from a stream of its own; the first one stores.
  void stream(OpId o, Step& s) {
    const auto id = std::get<ir::HostStreamId>(*m_.attributes(o).find("stream"));
    ir::HostStream part = m_.stream(id);
    if (s.results.empty()) {
      s.first_rank = true;
      const auto [it, added] = stores_.try_emplace(id.value);
      if (added) it->second = out_.add_stream(part);
      s.attributes = {out_.intern({{"stream", it->second}})};
      return;
    }
    Recipe::Load load{id, s.results[0], {}};
    part.shape = r_.located[s.results[0]].shape;
    for (std::int64_t r = 0; r < mesh_.written(); ++r) {
      part.name = fmt::format("{}.{}", m_.stream(id).name, mesh_.device(r_.located[s.results[0]].stage, r));
      load.by_rank.push_back(out_.add_stream(part));
      s.attributes.push_back(out_.intern({{"stream", load.by_rank.back()}}));
    }
    r_.loads.push_back(std::move(load));
  }

  Step plain(OpId o) {
    Step s;
    s.op = m_.op(o).kind;
    s.in_place = m_.op(o).in_place;
    if (const ir::LocationId l = m_.op(o).location; l.valid()) s.location = out_.location(m_.location(l));
    return s;
  }

  // Of most ops they are as they were.
  ir::AttributesId attributes_of(OpId o, const Step& s) {
    const Attributes& whole = m_.attributes(o);
    if (!s.results.empty() && whole.has("shape")) {
      Attributes local = whole;
      local.set("shape", ir::Ints(r_.located[s.results[0]].shape));
      return out_.intern(local);
    }
    const std::size_t id = m_.op(o).attributes.index();
    if (kept_attributes_.size() <= id) kept_attributes_.resize(id + 1);
    ir::AttributesId& kept = kept_attributes_[id];
    if (!kept.valid()) kept = out_.intern(whole);
    return kept;
  }

  // Sums are made where the value is made, so that everybody gets the total.
  void finish(ValueId v, std::int32_t stage, Segment segment) {
    std::uint32_t made = *find(v, raw(v), stage, 0);
    if (raw(v)[kTime].is_partial()) {
      Specs specs = summed_specs(v);
      if (!is_used_as_total(v)) return;
      Specs each = specs;
      each[kTime] = Spec::sum();
      made = convert(made, each, segment);
      const std::uint32_t sum = add(v, specs, stage, false, 0);
      steps(stage, segment).push_back(step(Step::accumulate, "add", made, sum));
    } else if (raw(v) != resolved(v)) {
      made = resolve(v, made, segment);
    }
    if (strategy_.join_outputs && raw(v)[kTime].is_sharded() && is_output(v)) joined(made, segment);
  }

  // Each rank adds up the terms of its stages, over all microbatches; behind them, the sums go from the last of these stages to the first.
  void bring_together(const SumOfStages& sum) {
    const ValueId v = m_.result(sum.last);
    const Specs specs = summed_specs(v);
    Specs each = specs;
    each[kTime] = Spec::sum();
    std::map<std::int32_t, std::int32_t> first_of_rank;
    for (ValueId term : sum.terms) {
      const auto [it, added] = first_of_rank.try_emplace(rank_of(home(term)), home(term));
      it->second = std::min(it->second, home(term));
    }
    // By the first stage of a rank: its sum. The first of all has the whole sum, which others find.
    constexpr std::uint32_t kOfRank = 1 + kSegments;
    std::map<std::int32_t, std::uint32_t> sums;
    for (const auto& [rank, stage] : first_of_rank) sums[stage] = add(v, specs, stage, false, first_of_rank.size() == 1 ? 0 : kOfRank);
    for (ValueId term : sum.terms) {
      const Segment segment = segment_of(m_.value(term).producer);
      const std::uint32_t made = convert(get(term, raw(term), home(term), segment), each, segment);
      steps(home(term), segment).push_back(step(Step::accumulate, "add", made, sums.at(first_of_rank.at(rank_of(home(term))))));
    }
    std::uint32_t total = sums.rbegin()->second;
    for (auto it = std::next(sums.rbegin()); it != sums.rend(); ++it) {
      const std::uint32_t moved = reshaped_like(it->second, r_.located[total].shape);
      r_.behind.push_back(transfer(total, moved));
      total = it->first == home(v) ? add(v, specs, it->first, false, 0) : reshaped_like(it->second, r_.located[total].shape);
      Step s = step(Step::plain, "add", moved, total);
      s.operands.push_back(it->second);
      s.attributes = {out_.intern({})};
      r_.behind.push_back(std::move(s));
    }
  }

  bool is_used_as_total(ValueId v) {
    if (total_uses_.empty()) {
      total_uses_.assign(m_.value_count(), false);
      const auto note = [&](ValueId u, const Specs& want) {
        total_uses_[u.index()] = total_uses_[u.index()] || want[kTime].is_replicated();
      };
      for (OpId o : main().ops) {
        for (std::size_t i = 0; i < m_.operands(o).size(); ++i) note(m_.operand(o, i), demand(o, i));
      }
      for (std::size_t i = 0; i < main().outputs.size(); ++i) note(main().outputs[i], l_.output[i]);
      for (std::size_t i = 0; i < main().updated_inputs.size(); ++i) note(main().updated_inputs[i], l_.final[i]);
    }
    return total_uses_[v.index()];
  }
  bool is_output(ValueId v) {
    if (is_output_.empty()) {
      is_output_.assign(m_.value_count(), false);
      for (ValueId o : main().outputs) is_output_[o.index()] = true;
    }
    return is_output_[v.index()];
  }

  // One op on each stage, of the weights that lie there.
  void bundle(OpId o) {
    const std::size_t n = m_.results(o).size();
    for (std::int32_t stage = 0; stage < s_.count; ++stage) {
      Step s = plain(o);
      s.attributes = {out_.intern(m_.attributes(o))};
      std::vector<std::size_t> mine;
      for (std::size_t i = 0; i < n; ++i) {
        if (home(m_.result(o, i)) == stage) mine.push_back(i);
      }
      if (mine.empty()) continue;
      for (std::size_t i : mine) s.operands.push_back(get(m_.operand(o, i), demand(o, i), stage, Segment::behind));
      for (std::size_t i : mine) s.operands.push_back(get(m_.operand(o, n + i), demand(o, n + i), stage, Segment::behind));
      for (std::size_t i : mine) s.results.push_back(add(m_.result(o, i), raw(m_.result(o, i)), stage, false, 0));
      r_.behind.push_back(std::move(s));
    }
  }

  void updated_inputs(std::size_t i) {
    const ValueId v = main().inputs[i], f = main().updated_inputs[i];
    if (f == v) return;
    for (std::size_t k = 0; k < r_.inputs.size(); ++k) {
      if (r_.located[r_.inputs[k]].value != v) continue;
      const std::uint32_t to = get(f, l_.final[i], r_.located[r_.inputs[k]].stage, Segment::behind);
      if (r_.located[r_.inputs[k]].buffers.empty()) {
        r_.updated_inputs[i].push_back(to);
      } else {
        store(r_.inputs[k], to);
      }
    }
  }

  const Program& program_;
  const Module& m_;
  const Strategy& strategy_;
  const Layout& l_;
  const Stages& s_;
  const Mesh& mesh_;
  bool splits_;
  Module& out_;
  Recipe r_;
  // By value: the last way in which it lies.
  static constexpr std::uint32_t kNone = ~0u;
  std::vector<std::uint32_t> of_value_;
  std::vector<Known> known_;
  ir::Type type_;
  // By attributes of the program.
  std::vector<ir::AttributesId> kept_attributes_;
  std::map<std::uint32_t, ir::HostStreamId> stores_;
  std::map<std::uint32_t, std::uint32_t> rows_;  // of variables off chip, by value
  std::vector<bool> total_uses_, recomputed_, is_output_;
  // By op: null for all but the last of a sum.
  std::map<OpId, const SumOfStages*> sums_;
};

}  // namespace

Recipe make_recipe(const Program& program, const Strategy& strategy, const Layout& layout, const Stages& stages, const Mesh& mesh,
                   bool splits_backward, ir::Module& out) {
  return RecipeBuilder(program, strategy, layout, stages, mesh, splits_backward, out).run();
}

void add_buffers(Located& x, std::int64_t rows, ir::Module& out) {
  for (ir::TypeId type : x.types) {
    const auto number = static_cast<std::int64_t>(out.buffer_count()) + 1;
    x.buffers.push_back(out.add_buffer({number, out.type(type).dtype, x.shape, rows, {}}));
  }
}

ir::Shape start_of(const ir::Shape& whole, const Specs& specs, const Mesh& mesh, std::int64_t rank, std::int64_t microbatch) {
  ir::Shape start(whole.size(), 0), left = whole;
  for (std::size_t a = 0; a < kAxes; ++a) {
    if (!specs[a].is_sharded()) continue;
    const auto d = static_cast<std::size_t>(specs[a].dim);
    left[d] /= mesh.sizes[a];
    start[d] += left[d] * (a == kTime ? microbatch : mesh.coordinate(rank, static_cast<Axis>(a)));
  }
  return start;
}

}  // namespace pando::transform
