#include "transform/distribute/flatten.h"

#include "ir/error.h"
#include "ir/rows/gradient.h"
#include "ir/semantics/infer.h"
#include "ir/text/print.h"
#include "transform/distribute/loop_facts.h"
#include "transform/distribute/module_copy.h"
#include "transform/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace pando::transform {

namespace {

using namespace ir;

using Chosen = std::function<bool(OpId)>;

class Flattener {
 public:
  // `chosen`: these calls and loops, and nothing else; null: all, and means.
  Flattener(const Program& program, Chosen chosen)
      : program_(program), from_(program.module), chosen_(std::move(chosen)), copies_(from_.op_count()) {
    out_.batch_dim = program.batch_dim;
    out_.sequence_dim = program.sequence_dim;
    out_.expert_dim = program.expert_dim;
    out_.stream_batch_dim = program.stream_batch_dim;
    copy_tables(from_, to());
  }

  Program run() {
    const Graph& main = from_.graph(from_.main_graph());
    graph_ = main_ = to().add_graph(main.name);
    facts_.emplace(to(), main_);
    for (std::uint32_t g = 0; g < from_.graph_count(); ++g) {
      for (OpId o : from_.graph(GraphId(g)).ops) has_loops_ = has_loops_ || from_.row(o).control == Control::repeat;
    }
    Values values;
    for (std::size_t i = 0; i < main.inputs.size(); ++i) {
      values[main.inputs[i]] = to().add_input(graph_, from_.type_of(main.inputs[i]), from_.name_of(main.inputs[i]), main.by_ref[i]);
    }
    for (OpId o : main.ops) op(o, values, program_.phase_of(o), program_.layer_of(o));
    for (ValueId v : main.outputs) to().add_output(graph_, values.at(v));
    for (std::size_t i = 0; i < main.updated_inputs.size(); ++i) to().graph(graph_).updated_inputs[i] = values.at(main.updated_inputs[i]);
    for (const auto& [first, then] : main.after) {
      const OpId a = copies_[first.index()], b = copies_[then.index()];
      if (a.valid() && b.valid()) to().graph(graph_).after.emplace_back(a, b);
    }
    copy_states(from_, to());
    if (unrolled_) prune(to());
    return std::move(out_);
  }

 private:
  using Values = std::map<ValueId, ValueId>;
  Module& to() { return out_.module; }

  void note(Phase phase, std::uint32_t layer) {
    out_.phase.resize(to().op_count(), phase);
    out_.layer.resize(to().op_count(), layer);
    out_.ahead.resize(to().op_count(), false);
  }
  // Graphs that are carried stay as they are.
  bool is_written_out(OpId o, Control control) const {
    return from_.row(o).control == control && (!chosen_ || (graph_ == main_ && chosen_(o)));
  }

  void op(OpId o, Values& values, Phase phase, std::uint32_t layer) {
    if (is_written_out(o, Control::call)) {
      call(o, values, phase, layer);
    } else if (graph_ == main_ && is_written_out(o, Control::repeat)) {
      loop(o, values, phase, layer);
    } else if (!is_known(o, values) && (chosen_ || !without_mean(o, values))) {
      std::vector<ValueId> operands;
      std::vector<TypeId> types;
      std::vector<GraphId> graphs;
      for (ValueId v : from_.operands(o)) operands.push_back(values.at(v));
      for (ValueId v : from_.results(o)) types.push_back(to().type(from_.type_of(v)));
      for (GraphId g : from_.graphs(o)) graphs.push_back(carried(g));
      const OpId made = copies_[o.index()] = copy_op(from_, o, to(), graph_, operands, graphs, types);
      for (std::size_t i = 0; i < types.size(); ++i) values[from_.result(o, i)] = to().result(made, i);
      if (graph_ == main_ && has_loops_) {
        facts_->note(made);
        if (is_pure(o)) made_.try_emplace(key_of(o, operands), made);
      }
    }
    note(phase, layer + shift_);
  }

  bool is_pure(OpId o) const { return from_.row(o).effects == Effects::none && from_.op(o).graph_count == 0 && !from_.results(o).empty(); }
  std::vector<std::uint32_t> key_of(OpId o, const std::vector<ValueId>& operands) {
    std::vector<std::uint32_t> key{from_.op(o).kind.value, to().intern(from_.attributes(o)).value};
    for (ValueId v : operands) key.push_back(v.value);
    return key;
  }

  // In trips of a loop: what is there already. The gradient of a loop runs its body again, on what the loop itself has seen.
  bool is_known(OpId o, Values& values) {
    if (!unrolled_ || graph_ != main_ || !is_pure(o)) return false;
    std::vector<ValueId> operands;
    for (ValueId v : from_.operands(o)) operands.push_back(values.at(v));
    if (const auto v = facts_->instead(from_.row(o), from_.attributes(o), operands)) {
      values[from_.result(o)] = *v;
      return true;
    }
    const auto it = made_.find(key_of(o, operands));
    if (it == made_.end()) return false;
    for (std::size_t i = 0; i < from_.results(o).size(); ++i) values[from_.result(o, i)] = to().result(it->second, i);
    return true;
  }

  void call(OpId o, Values& values, Phase phase, std::uint32_t layer) {
    const Graph& g = from_.graph(from_.graphs(o)[0]);
    Values inner;
    for (std::size_t i = 0; i < g.inputs.size(); ++i) inner[g.inputs[i]] = values.at(from_.operand(o, i));
    for (OpId x : g.ops) op(x, inner, phase, layer);
    std::size_t result = 0;
    for (ValueId v : g.outputs) values[from_.result(o, result++)] = inner.at(v);
    for (std::int64_t i : from_.attributes(o).ints("modified"))
      values[from_.result(o, result++)] = inner.at(g.updated_inputs[static_cast<std::size_t>(i)]);
  }

  // Trip after trip, each a layer of its own, as the op says it: outputs are carried to inputs, modified inputs keep what a trip made of
  // them.
  void loop(OpId o, Values& values, Phase phase, std::uint32_t layer) {
    const Graph& g = from_.graph(from_.graphs(o)[0]);
    const std::int64_t count = from_.attributes(o).integer("count");
    const Ints& modified = from_.attributes(o).ints("modified");
    unrolled_ = true;
    std::vector<ValueId> inputs, updated_inputs;
    for (ValueId v : from_.operands(o)) inputs.push_back(values.at(v));
    updated_inputs = inputs;
    for (std::int64_t k = 0; k < count; ++k) {
      Values inner;
      for (std::size_t i = 0; i < g.inputs.size(); ++i) inner[g.inputs[i]] = inputs[i];
      for (OpId x : g.ops) op(x, inner, phase, layer + (phase == Phase::forward ? static_cast<std::uint32_t>(k) : 0));
      for (std::int64_t i : modified) {
        const auto m = static_cast<std::size_t>(i);
        inputs[m] = updated_inputs[m] = inner.at(g.updated_inputs[m]);
      }
      for (std::size_t i = 0; i < g.outputs.size(); ++i) inputs[i] = inner.at(g.outputs[i]);
      if (to().op_count() <= kMostWritten) continue;
      reject(ErrorClass::value, "loop-too-long",
             "{} '{}' of graph '{}' makes {} trips; the loops of the main graph are written out, up to {} ops in all", from_.row(o).name,
             from_.name_of(o), g.name, count, kMostWritten);
    }
    if (phase == Phase::forward && count > 0) shift_ += static_cast<std::uint32_t>(count - 1);
    std::size_t result = 0;
    for (std::size_t i = 0; i < g.outputs.size(); ++i) values[from_.result(o, result++)] = inputs[i];
    for (std::int64_t i : modified) values[from_.result(o, result++)] = updated_inputs[static_cast<std::size_t>(i)];
  }

  // A graph that a branch (or a loop that is not chosen) carries: as it is.
  GraphId carried(GraphId old) {
    if (const auto it = graphs_.find(old); it != graphs_.end()) return it->second;
    const Graph& g = from_.graph(old);
    const GraphId graph = to().add_graph(g.name);
    graphs_[old] = graph;
    Values values;
    for (std::size_t i = 0; i < g.inputs.size(); ++i)
      values[g.inputs[i]] = to().add_input(graph, from_.type_of(g.inputs[i]), from_.name_of(g.inputs[i]), g.by_ref[i]);
    const GraphId outer = std::exchange(graph_, graph);
    for (OpId o : g.ops) op(o, values, Phase::forward, 0);
    graph_ = outer;
    for (ValueId v : g.outputs) to().add_output(graph, values.at(v));
    for (std::size_t i = 0; i < g.updated_inputs.size(); ++i) to().graph(graph).updated_inputs[i] = values.at(g.updated_inputs[i]);
    return graph;
  }

  ValueId add(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes = {}) {
    return to().result(infer_and_add(to(), graph_, name, {operands.begin(), operands.size()}, attributes));
  }
  ValueId scalar(DType dtype, double x) { return add("constant", {}, {{"data", to().add_blob(HostTensor::filled(dtype, {}, x))}}); }

  // Means over what may be cut: sums of it, times a factor, as the op's row writes them.
  class Means : public MeanExpansion {
   public:
    Means(Flattener& flattener, OpId op, const Values& values) : f_(flattener), op_(op), values_(values) {}

    const Attributes& attributes() const override { return f_.from_.attributes(op_); }
    std::size_t operands() const override { return f_.from_.operands(op_).size(); }
    ValueId operand(std::size_t i) const override { return values_.at(f_.from_.operand(op_, i)); }
    const Type& type_of(ValueId v) const override { return f_.out_.module.type_of(v); }
    const Type& result_type(std::size_t i) const override { return f_.from_.type_of(f_.from_.result(op_, i)); }
    ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes) override {
      return ops(name, std::span(operands.begin(), operands.size()), attributes)[0];
    }
    std::vector<ValueId> ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes) override {
      Module& m = f_.out_.module;
      const OpId made = infer_and_add(m, f_.graph_, name, operands, attributes);
      return {m.results(made).begin(), m.results(made).end()};
    }
    ValueId scalar(DType dtype, double x) override { return f_.scalar(dtype, x); }
    ValueId share_of_counted(ValueId labels, std::int64_t ignored, DType dtype) override {
      return f_.share_of_counted(labels, ignored, dtype);
    }
    void result(ValueId v) override { results.push_back(v); }

    std::vector<ValueId> results;

   private:
    Flattener& f_;
    OpId op_;
    const Values& values_;
  };

  bool without_mean(OpId o, Values& values) {
    const OpRow& row = from_.row(o);
    Means means(*this, o, values);
    if (row.as_sums == nullptr || !row.as_sums(means)) return false;
    for (std::size_t i = 0; i < means.results.size(); ++i) values[from_.result(o, i)] = means.results[i];
    return true;
  }

  // 1 / (labels that are not left out, at least 1), of all samples. Every microbatch's gradient needs it: so it is computed ahead of the
  // first.
  ValueId share_of_counted(ValueId labels, std::int64_t ignored, DType dtype) {
    const auto [it, is_new] = shares_.try_emplace({labels, ignored, dtype});
    if (!is_new) return it->second;
    const std::size_t first = to().op_count();
    const ValueId whole = ahead(labels);
    const Type type = to().type_of(whole);
    const ValueId counted = add("not_equal", {whole, scalar(type.dtype, static_cast<double>(ignored))});
    Ints axes(type.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    const ValueId wide = add("cast", {counted}, {{"data_type", dtype == DType::float64 ? dtype : DType::float32}});
    const ValueId count = axes.empty() ? wide : add("sum", {wide}, {{"axis", axes}});
    const DType of_count = to().type_of(count).dtype;
    ValueId share = add("div", {scalar(of_count, 1), add("maximum", {count, scalar(of_count, 1)})});
    if (of_count != dtype) share = add("cast", {share}, {{"data_type", dtype}});
    out_.ahead.resize(first, false);
    out_.ahead.resize(to().op_count(), true);
    return it->second = share;
  }

  // The same of all samples, from inputs and streams. Ops with an effect run once: they come ahead themselves.
  ValueId ahead(ValueId v) {
    const OpId p = to().value(v).producer;
    if (!p.valid()) return v;
    if (to().row(p).effects != Effects::none) {
      out_.ahead[p.index()] = true;
      return v;
    }
    const auto [it, is_new] = ahead_.try_emplace(v);
    if (!is_new) return it->second;
    std::vector<ValueId> operands;
    for (ValueId x : std::vector<ValueId>(to().operands(p).begin(), to().operands(p).end())) operands.push_back(ahead(x));
    std::vector<TypeId> types;
    for (ValueId r : to().results(p)) types.push_back(to().value(r).type);
    const std::vector<GraphId> graphs(to().graphs(p).begin(), to().graphs(p).end());
    const OpId copy =
        to().add_op(graph_, to().op(p).kind, operands, Attributes(to().attributes(p)), graphs, types, to().name_of(v) + ".ahead");
    return ahead_[v] = to().result(copy, to().value(v).index);
  }

  const Program& program_;
  const Module& from_;
  const Chosen chosen_;
  Program out_;
  GraphId graph_, main_;
  bool has_loops_ = false, unrolled_ = false;
  // Layers that trips have added.
  std::uint32_t shift_ = 0;
  // Ops of the main graph, by what they compute.
  std::map<std::vector<std::uint32_t>, OpId> made_;
  std::optional<LoopFacts> facts_;
  // By op of the main graph: its copy.
  std::vector<OpId> copies_;
  std::map<ValueId, ValueId> ahead_;
  std::map<std::tuple<ValueId, std::int64_t, DType>, ValueId> shares_;
  std::map<GraphId, GraphId> graphs_;
};

}  // namespace

Program flatten(const Program& program) { return Flattener(program, {}).run(); }

namespace {

// Devices, or replicas that meet, in the graphs that an op carries.
bool spans_devices(const Module& m, OpId op) {
  bool meet = false;
  std::set<std::int32_t> devices;
  std::set<GraphId> seen;
  const auto note = [&](ValueId v) {
    const Device d = m.type_of(v).place.device;
    if (d.known() && !d.is_variable()) devices.insert(d.value);
  };
  const auto look = [&](const auto& again, OpId o) -> void {
    for (GraphId g : m.graphs(o)) {
      if (!seen.insert(g).second) continue;
      for (ValueId v : m.graph(g).inputs) note(v);
      for (OpId inner : m.graph(g).ops) {
        for (ValueId v : m.results(inner)) note(v);
        meet = meet || (m.replicas() > 1 && has(m.row(inner).effects, Effects::replicas));
        again(again, inner);
      }
    }
  };
  look(look, op);
  return meet || devices.size() > 1;
}

bool is_written_out(const Module& m, OpId o) { return m.row(o).control == Control::call || m.row(o).control == Control::repeat; }

void reject_branches(const Module& m) {
  for (OpId o : m.graph(m.main_graph()).ops) {
    if (m.op(o).graph_count == 0 || is_written_out(m, o) || !spans_devices(m, o)) continue;
    reject(ErrorClass::not_implemented, "branch-on-several-devices",
           "{}: in its graphs values lie on several devices, or replicas meet; in calls and loops they may, in branches not",
           print_op(m, o));
  }
}

}  // namespace

Module write_out_across(Module module) {
  const auto chosen = [&](OpId o) { return is_written_out(module, o) && spans_devices(module, o); };
  reject_branches(module);
  const std::vector<OpId>& ops = module.graph(module.main_graph()).ops;
  if (std::none_of(ops.begin(), ops.end(), chosen)) return module;
  Program whole;
  whole.module = std::move(module);
  Module out = Flattener(whole, [&](OpId o) { return spans_devices(whole.module, o); }).run().module;
  // Those in what was written out.
  reject_branches(out);
  return out;
}

}  // namespace pando::transform
