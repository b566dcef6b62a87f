#include "transform/distribute/flatten.h"

#include "base/check.h"
#include "ir/infer.h"
#include "ir/op_row.h"
#include "ir/op_table.h"
#include "transform/distribute/module_copy.h"

#include <map>

namespace pando::transform {

namespace {

using namespace ir;

class Flattener {
 public:
  explicit Flattener(const Program& program) : program_(program), from_(program.module), call_(op_kind("call")) {
    out_.batch_dim = program.batch_dim;
    out_.sequence_dim = program.sequence_dim;
    out_.expert_dim = program.expert_dim;
    out_.stream_batch_dim = program.stream_batch_dim;
    copy_tables(from_, to());
  }

  Program run() {
    const Graph& main = from_.graph(from_.main_graph());
    graph_ = to().add_graph(main.name);
    Values values;
    for (std::size_t i = 0; i < main.inputs.size(); ++i) {
      values[main.inputs[i]] = to().add_input(graph_, from_.type_of(main.inputs[i]), from_.name_of(main.inputs[i]), main.by_ref[i]);
    }
    for (OpId o : main.ops) op(o, values, program_.phase_of(o), program_.layer_of(o));
    for (ValueId v : main.outputs) to().add_output(graph_, values.at(v));
    for (std::size_t i = 0; i < main.finals.size(); ++i) to().graph(graph_).finals[i] = values.at(main.finals[i]);
    copy_states(from_, to());
    return std::move(out_);
  }

 private:
  using Values = std::map<ValueId, ValueId>;
  Module& to() { return out_.module; }

  void note(Phase phase, std::uint32_t layer) {
    out_.phase.resize(to().op_count(), phase);
    out_.layer.resize(to().op_count(), layer);
  }

  void op(OpId o, Values& values, Phase phase, std::uint32_t layer) {
    if (from_.op(o).kind == call_) {
      call(o, values, phase, layer);
    } else if (!without_mean(o, values)) {
      std::vector<ValueId> operands;
      std::vector<TypeId> types;
      std::vector<GraphId> graphs;
      for (ValueId v : from_.operands(o)) operands.push_back(values.at(v));
      for (ValueId v : from_.results(o)) types.push_back(to().type(from_.type_of(v)));
      for (GraphId g : from_.graphs(o)) graphs.push_back(carried(g));
      const OpId made = copy_op(from_, o, to(), graph_, operands, graphs, types);
      for (std::size_t i = 0; i < types.size(); ++i) values[from_.result(o, i)] = to().result(made, i);
    }
    note(phase, layer);
  }

  void call(OpId o, Values& values, Phase phase, std::uint32_t layer) {
    const Graph& g = from_.graph(from_.graphs(o)[0]);
    Values inner;
    for (std::size_t i = 0; i < g.inputs.size(); ++i) inner[g.inputs[i]] = values.at(from_.operand(o, i));
    for (OpId x : g.ops) op(x, inner, phase, layer);
    std::size_t result = 0;
    for (ValueId v : g.outputs) values[from_.result(o, result++)] = inner.at(v);
    for (std::int64_t i : from_.attributes(o).ints("modified")) values[from_.result(o, result++)] = inner.at(g.finals[static_cast<std::size_t>(i)]);
  }

  // A graph that a loop or a branch carries: as it is.
  GraphId carried(GraphId old) {
    if (const auto it = graphs_.find(old); it != graphs_.end()) return it->second;
    const Graph& g = from_.graph(old);
    const GraphId graph = to().add_graph(g.name);
    graphs_[old] = graph;
    Values values;
    for (std::size_t i = 0; i < g.inputs.size(); ++i) values[g.inputs[i]] = to().add_input(graph, from_.type_of(g.inputs[i]), from_.name_of(g.inputs[i]), g.by_ref[i]);
    const GraphId outer = std::exchange(graph_, graph);
    for (OpId o : g.ops) op(o, values, Phase::forward, 0);
    graph_ = outer;
    for (ValueId v : g.outputs) to().add_output(graph, values.at(v));
    for (std::size_t i = 0; i < g.finals.size(); ++i) to().graph(graph).finals[i] = values.at(g.finals[i]);
    return graph;
  }

  ValueId add(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes = {}) {
    return to().result(infer_and_add(to(), graph_, name, {operands.begin(), operands.size()}, attributes));
  }
  ValueId scalar(DType dtype, double x) { return add("constant", {}, {{"data", to().add_blob(HostTensor::filled(dtype, {}, x))}}); }

  // Means over what may be cut: sums of it, times a factor. Those that leave labels out count what is left, and stay.
  bool without_mean(OpId o, Values& values) {
    const std::string_view name = from_.row(o).name;
    const Attributes& a = from_.attributes(o);
    if (name == "mean") {
      const Type& in = from_.type_of(from_.operand(o, 0));
      const double n = static_cast<double>(elements_of(in.shape)) / static_cast<double>(elements_of(from_.type_of(from_.result(o)).shape));
      const ValueId sum = add("sum", {values.at(from_.operand(o, 0))}, a);
      values[from_.result(o)] = add("mul", {sum, scalar(in.dtype, 1 / n)});
      return true;
    }
    const bool both = name == "nll_loss_with_softmax_grad", nll = both || name == "nll_loss" || name == "nll_grad";
    if (!nll || a.text("reduction") != "mean" || a.has("ignore_index")) return false;
    Attributes as_sum = a;
    as_sum.set("reduction", std::string("sum"));
    const double rows = static_cast<double>(elements_of(from_.type_of(from_.operand(o, 1)).shape));
    const ValueId factor = scalar(from_.type_of(from_.operand(o, 0)).dtype, 1 / rows);
    const ValueId probs = values.at(from_.operand(o, 0)), labels = values.at(from_.operand(o, 1));
    if (both) {
      std::vector<ValueId> operands;
      for (ValueId v : from_.operands(o)) operands.push_back(values.at(v));
      const OpId sums = infer_and_add(to(), graph_, name, operands, as_sum);
      for (std::size_t i = 0; i < 2; ++i) values[from_.result(o, i)] = add("mul", {to().result(sums, i), factor});
      return true;
    }
    if (name == "nll_loss") {
      values[from_.result(o)] = add("mul", {add("nll_loss", {probs, labels}, as_sum), factor});
      return true;
    }
    const ValueId dy = add("mul", {values.at(from_.operand(o, 2)), factor});
    const ValueId operands[] = {probs, labels, dy};
    values[from_.result(o)] = to().result(infer_and_add(to(), graph_, name, operands, as_sum));
    return true;
  }

  const Program& program_;
  const Module& from_;
  Program out_;
  GraphId graph_;
  OpKind call_;
  std::map<GraphId, GraphId> graphs_;
};

}  // namespace

Program flatten(const Program& program) { return Flattener(program).run(); }

}  // namespace pando::transform
