#include "search/programs/fold.h"

#include "ir/op_row.h"
#include "pando/model_error.hpp"
#include "schedule/synthesised.h"
#include "search/strategy_text.h"
#include "transform/distribute/layout/layout.h"
#include "transform/distribute/module_copy.h"
#include "transform/distribute/stages/stages.h"

#include <algorithm>
#include <cmath>

namespace pando::search {

namespace {

using ir::OpId;
using ir::ValueId;
using transform::Phase;
using transform::Program;

// Makes the program without layers [begin, end), whole periods. What those after them take of the forward pass is that of the period
// before; what those before them take of the backward pass is that of the period after.
class LayerDropper {
 public:
  LayerDropper(const Program& p, const std::vector<std::int32_t>& layer_of_op, const std::vector<std::int32_t>& layer_of_input,
               const std::vector<std::uint32_t>& place_of_op, const std::vector<std::vector<OpId>>& ops_of_layer, std::uint32_t begin,
               std::uint32_t end, std::uint32_t period)
      : p_(p),
        in_(p.module),
        layer_of_op_(layer_of_op),
        layer_of_input_(layer_of_input),
        place_of_op_(place_of_op),
        ops_of_layer_(ops_of_layer),
        begin_(begin),
        end_(end),
        period_(period),
        values_(in_.value_count()) {}

  Program run() {
    transform::copy_tables(in_, out_.module);
    out_.stream_batch_dim = p_.stream_batch_dim;
    const ir::Graph& main = in_.graph(in_.main_graph());
    graph_ = m().add_graph(main.name);
    inputs(main);
    for (OpId o : main.ops) op(o);
    for (ValueId v : main.outputs) {
      if (!dropped(v)) m().add_output(graph_, now(v));
    }
    for (std::size_t i = 0; i < main.inputs.size(); ++i) {
      if (!drops(layer_of_input_[i]))
        m().graph(graph_).updated_inputs[m().value(values_[main.inputs[i].index()]).index] = now(main.updated_inputs[i]);
    }
    return std::move(out_);
  }

 private:
  ir::Module& m() { return out_.module; }
  bool drops(std::int32_t layer) const { return layer >= static_cast<std::int32_t>(begin_) && layer < static_cast<std::int32_t>(end_); }
  bool dropped(ValueId v) const {
    const OpId o = in_.value(v).producer;
    return o.valid() ? drops(layer_of_op_[o.index()]) : drops(layer_of_input_[in_.value(v).index]);
  }

  void inputs(const ir::Graph& main) {
    std::map<std::uint32_t, ir::StateId> states;
    for (std::uint32_t s = 0; s < in_.state_count(); ++s) {
      const ir::State& state = in_.state(ir::StateId(s));
      if (state.input) states[*state.input] = ir::StateId(s);
    }
    for (std::uint32_t i = 0; i < main.inputs.size(); ++i) {
      if (drops(layer_of_input_[i])) continue;
      const ValueId v = m().add_input(graph_, in_.type_of(main.inputs[i]), in_.name_of(main.inputs[i]));
      values_[main.inputs[i].index()] = v;
      for (const auto lists : {&Program::batch_dim, &Program::sequence_dim, &Program::expert_dim})
        (out_.*lists).push_back(Program::dim_of(p_.*lists, i));
      const auto state = states.find(i);
      if (state == states.end()) continue;
      ir::State s = in_.state(state->second);
      s.type = m().type(in_.type(s.type));
      s.input = m().value(v).index;
      m().add_state(std::move(s));
    }
  }

  // What a value is in the smaller program.
  ValueId now(ValueId v) const {
    const OpId o = in_.value(v).producer;
    if (!o.valid() || !drops(layer_of_op_[o.index()])) return values_[v.index()];
    const std::uint32_t place = (static_cast<std::uint32_t>(layer_of_op_[o.index()]) - begin_) % period_;
    const std::uint32_t layer = p_.phase_of(o) == Phase::forward ? begin_ - period_ + place : end_ + place;
    const OpId other = ops_of_layer_[layer][place_of_op_[o.index()]];
    return values_[in_.result(other, in_.value(v).index).index()];
  }

  void op(OpId o) {
    if (drops(layer_of_op_[o.index()])) return;
    std::vector<ValueId> operands, results;
    std::vector<ir::TypeId> types;
    const std::size_t n = in_.results(o).size();
    const bool bundles = in_.row(o).bundles;
    for (std::size_t i = 0; i < in_.operands(o).size(); ++i) {
      // Of a bundle: weights, then their gradients.
      if (bundles && dropped(in_.operand(o, i % n))) continue;
      operands.push_back(now(in_.operand(o, i)));
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (bundles && dropped(in_.operand(o, i))) continue;
      results.push_back(in_.result(o, i));
      types.push_back(m().type(in_.type_of(results.back())));
    }
    std::vector<ir::GraphId> none;
    const OpId copy = transform::copy_op(in_, o, m(), graph_, operands, none, types);
    for (std::size_t i = 0; i < results.size(); ++i) values_[results[i].index()] = m().result(copy, i);
    const std::uint32_t layer = p_.layer_of(o);
    out_.phase.resize(copy.index() + 1, Phase::forward);
    out_.layer.resize(copy.index() + 1, 0);
    out_.ahead.resize(copy.index() + 1, false);
    out_.phase[copy.index()] = p_.phase_of(o);
    out_.layer[copy.index()] = layer >= end_ ? layer - (end_ - begin_) : layer;
    out_.ahead[copy.index()] = p_.is_ahead(o);
  }

  const Program& p_;
  const ir::Module& in_;
  const std::vector<std::int32_t>&layer_of_op_, &layer_of_input_;
  const std::vector<std::uint32_t>& place_of_op_;
  const std::vector<std::vector<OpId>>& ops_of_layer_;
  std::uint32_t begin_, end_, period_;
  std::vector<ValueId> values_;
  Program out_;
  ir::GraphId graph_;
};

// a + x (b - a) + y (c - a) + x y (d - c - b + a).
double from_four(double a, double b, double c, double d, double x, double y) {
  return a + x * (b - a) + y * (c - a) + x * y * (d - c - b + a);
}

// The schedule has as many microbatches as it is given, and goes on as it began.
bool repeats(const transform::Strategy& s) { return !s.table && !schedule::is_synthesised(s.schedule); }

}  // namespace

transform::Strategy in_one_stage(transform::Strategy s) {
  s.pipeline = s.stages_per_rank = 1;
  s.schedule = "1F1B";
  s.table.reset();
  s.layers_per_stage.clear();
  s.recompute = transform::Recompute::none;
  s.recomputed_layers.clear();
  s.order.clear();
  return s;
}

FoldedProgram::FoldedProgram(const Program& program) : program_(program), layouts_(program) {
  const ir::Module& m = program.module;
  for (OpId o : m.graph(m.main_graph()).ops) {
    layers_ = std::max(layers_, program.layer_of(o) + 1);
    if (m.op(o).graph_count != 0) return;  // not flat
  }
  if (layers_ < 4) return;
  try {
    find_layers();
  } catch (const ModelError&) { return; }
  find_equal();
}

// Each layer as a stage of its own says where everything belongs.
void FoldedProgram::find_layers() {
  const ir::Module& m = program_.module;
  transform::Strategy s;
  s.pipeline = static_cast<std::int32_t>(layers_);
  s.schedule = "GPipe";
  s.layers_per_stage.assign(layers_, 1);
  const transform::Stages stages = transform::assign_stages(program_, s, transform::lay_out(program_, s), s.pipeline);
  const ir::Graph& main = m.graph(m.main_graph());
  layer_of_op_.assign(m.op_count(), -1);
  place_of_op_.assign(m.op_count(), 0);
  ops_of_layer_.resize(layers_);
  inputs_of_layer_.resize(layers_);
  for (OpId o : main.ops) {
    std::int32_t layer = stages.of_op[o.index()];
    // Forward ops say it themselves.
    if (program_.phase_of(o) == Phase::forward && layer >= 0) layer = static_cast<std::int32_t>(program_.layer_of(o));
    layer_of_op_[o.index()] = layer;
    if (layer < 0) continue;
    auto& all = ops_of_layer_[static_cast<std::size_t>(layer)];
    place_of_op_[o.index()] = static_cast<std::uint32_t>(all.size());
    all.push_back(o);
  }
  for (std::uint32_t i = 0; i < main.inputs.size(); ++i) {
    const std::int32_t layer = stages.home[main.inputs[i].index()];
    layer_of_input_.push_back(layer);
    place_of_input_.push_back(0);
    if (layer < 0) continue;
    auto& all = inputs_of_layer_[static_cast<std::size_t>(layer)];
    place_of_input_.back() = static_cast<std::uint32_t>(all.size());
    all.push_back(i);
  }
}

// The row of equal layers, or of layers that repeat after a few, of which most can be left out. At least three periods.
void FoldedProgram::find_equal() {
  std::uint32_t most = 0;
  for (std::uint32_t period = 1; period <= std::min(kLongestPeriod, layers_ / 3); ++period) {
    for (std::uint32_t begin = 0; begin + period < layers_;) {
      std::uint32_t end = begin + period;
      while (end < layers_ && equal(end - period, end)) ++end;
      const std::uint32_t all = end - begin;
      if (all >= 3 * period && all - 2 * period > most) {
        most = all - 2 * period;
        first_ = begin, end_ = end, period_ = period;
      }
      begin = std::max(begin + 1, end - period + 1);
    }
  }
}

bool FoldedProgram::matches(ValueId a, ValueId b, std::uint32_t layer, std::uint32_t next) const {
  const ir::Module& m = program_.module;
  if (m.value(a).type != m.value(b).type) return false;
  const OpId x = m.value(a).producer, y = m.value(b).producer;
  if (x.valid() != y.valid()) return false;
  const std::int32_t of_a = x.valid() ? layer_of_op_[x.index()] : layer_of_input_[m.value(a).index];
  const std::int32_t of_b = y.valid() ? layer_of_op_[y.index()] : layer_of_input_[m.value(b).index];
  const bool own_a = of_a == static_cast<std::int32_t>(layer), own_b = of_b == static_cast<std::int32_t>(next);
  if (own_a != own_b) return false;
  // What comes from elsewhere only has to be as large; the layers beside those that are equal differ.
  if (!own_a) return true;
  if (!x.valid()) return place_of_input_[m.value(a).index] == place_of_input_[m.value(b).index];
  return place_of_op_[x.index()] == place_of_op_[y.index()] && m.value(a).index == m.value(b).index;
}

bool FoldedProgram::equal(std::uint32_t layer, std::uint32_t next) const {
  const ir::Module& m = program_.module;
  const auto &a = ops_of_layer_[layer], &b = ops_of_layer_[next];
  if (a.empty() || a.size() != b.size() || inputs_of_layer_[layer].size() != inputs_of_layer_[next].size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const ir::Op &x = m.op(a[i]), &y = m.op(b[i]);
    if (x.kind != y.kind || x.attributes != y.attributes || x.in_place != y.in_place || x.operand_count != y.operand_count ||
        x.result_count != y.result_count || program_.phase_of(a[i]) != program_.phase_of(b[i]) ||
        program_.is_ahead(a[i]) != program_.is_ahead(b[i]))
      return false;
    for (std::size_t k = 0; k < x.operand_count; ++k) {
      if (!matches(m.operand(a[i], k), m.operand(b[i], k), layer, next)) return false;
    }
    for (std::size_t k = 0; k < x.result_count; ++k) {
      if (m.value(m.result(a[i], k)).type != m.value(m.result(b[i], k)).type) return false;
    }
  }
  return true;
}

FoldedProgram::Smaller& FoldedProgram::smaller(std::uint32_t layers) {
  Smaller& made = smaller_[layers];
  if (!made.program) {
    const std::uint32_t begin = first_ + period_;
    made.program = std::make_unique<Program>(
        LayerDropper(program_, layer_of_op_, layer_of_input_, place_of_op_, ops_of_layer_, begin, begin + layers, period_).run());
    made.layouts = std::make_unique<Layouts>(*made.program);
  }
  return made;
}

const Program& FoldedProgram::without(std::uint32_t layers) { return *smaller(layers).program; }

FoldedProgram::Folding FoldedProgram::plan(const transform::Strategy& s) {
  Folding p;
  const auto stages = static_cast<std::uint32_t>(s.pipeline * s.stages_per_rank);
  if (s.table || !s.recomputed_layers.empty() || stages > layers_) return p;
  p.counts = s.layers_per_stage;
  if (p.counts.empty()) {
    auto& operations = operations_[s.microbatches > 1];
    if (operations.empty()) operations = transform::layer_operations(program_, *layouts_.of(s));
    p.counts = transform::even_groups(operations, static_cast<std::int32_t>(stages));
  }
  std::uint32_t at = 0;
  p.least = end_ - first_;
  for (const std::uint32_t n : p.counts) {
    const std::uint32_t begin = std::max(at, first_), stop = std::min(at + n, end_);
    p.least = std::min(p.least, stop > begin ? stop - begin : 0);
    at += n;
  }
  if (p.counts.size() != stages || at != layers_) return p;
  // Two stay where there is one stage: the periods beside what is left out.
  p.least /= period_;
  p.few = stages == 1 ? 2 : 1;
  p.layers = p.least > p.few + 1;
  p.fewer = 2 * s.pipeline + s.microbatches % s.pipeline;
  p.more = p.fewer + s.pipeline;
  p.microbatches = repeats(s) && p.more < s.microbatches;
  return p;
}

transform::Strategy FoldedProgram::shortened(const transform::Strategy& s, const Folding& plan, std::uint32_t dropped) const {
  transform::Strategy small = s;
  small.layers_per_stage = plan.counts;
  for (std::uint32_t& n : small.layers_per_stage) n -= dropped;
  return small;
}

std::optional<double> FoldedProgram::least_seconds(const transform::Strategy& s, const simulate::CostModel& costs) {
  const Folding p = plan(s);
  if (!p.layers) return std::nullopt;
  const auto stages = static_cast<std::uint32_t>(p.counts.size());
  const auto one = [&](std::uint32_t of_stage) {
    const std::uint32_t dropped = (p.least - of_stage) * period_;
    Smaller& small = smaller(dropped * stages);
    if (!small.times) small.times = std::make_unique<LeastTime>(*small.program, costs);
    return small.times->seconds(shortened(s, p, dropped), *small.layouts->of(s));
  };
  const double few = one(p.few);
  return kTimesCaution * (few + static_cast<double>(p.least - p.few) * (one(p.few + 1) - few));
}

std::optional<ProgramEstimate> FoldedProgram::estimate(const transform::Strategy& s, const simulate::Cluster& cluster,
                                                       const simulate::CostModel& costs) {
  const Folding p = plan(s);
  if (!p.layers && !p.microbatches) return std::nullopt;
  const auto stages = static_cast<std::uint32_t>(p.counts.size());
  const auto one = [&](std::uint32_t of_stage, std::int32_t made) {
    const std::uint32_t dropped = p.layers ? (p.least - of_stage) * period_ : 0;
    const transform::Strategy some = shortened(s, p, dropped);
    if (dropped == 0) return estimate_program(program_, some, cluster, &costs, made, layouts_.of(some).get());
    Smaller& small = smaller(dropped * stages);
    return estimate_program(*small.program, some, cluster, &costs, made, small.layouts->of(some).get());
  };
  const std::int32_t all = s.microbatches, first = p.microbatches ? p.fewer : all;
  const double x = p.layers ? p.least - p.few : 0, y = p.microbatches ? static_cast<double>(all - p.fewer) / s.pipeline : 0;
  const ProgramEstimate a = one(p.few, first), b = p.layers ? one(p.few + 1, first) : a, c = p.microbatches ? one(p.few, p.more) : a,
                        d = p.layers && p.microbatches ? one(p.few + 1, p.more)
                            : p.layers                 ? b
                                                       : c;
  ProgramEstimate e = a;
  const auto grown = [&](auto member) {
    return from_four(static_cast<double>(a.*member), static_cast<double>(b.*member), static_cast<double>(c.*member),
                     static_cast<double>(d.*member), x, y);
  };
  e.seconds = grown(&ProgramEstimate::seconds);
  e.computing = grown(&ProgramEstimate::computing);
  e.transferring = grown(&ProgramEstimate::transferring);
  e.peak = std::llround(grown(&ProgramEstimate::peak));
  for (std::size_t k = 0; k < e.at_peak.size(); ++k) {
    e.at_peak[k] = std::llround(from_four(static_cast<double>(a.at_peak[k]), static_cast<double>(b.at_peak[k]),
                                          static_cast<double>(c.at_peak[k]), static_cast<double>(d.at_peak[k]), x, y));
  }
  return e;
}

}  // namespace pando::search
