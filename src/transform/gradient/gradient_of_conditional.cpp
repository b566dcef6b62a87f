// The gradient of a conditional: a conditional of the branches' gradients.
#include "transform/gradient/gradient_graph.h"

#include "ir/semantics/infer.h"

#include <algorithm>

namespace pando::transform {

using namespace ir;

namespace {

struct Branch {
  Binding binding;
  const GradientInfo* info = nullptr;
  // By input of the branch's graph: which output of its gradient graph; -1: none.
  std::vector<std::ptrdiff_t> output_of_input;
};

// A gradient that comes out: of an operand value, from an input of one branch or of both.
struct Outcome {
  ValueId operand;
  std::ptrdiff_t input[2] = {-1, -1};
};

Branch branch_of(GradientGraph& g, OpId op, std::size_t which) {
  Module& m = g.module();
  const auto operands = m.operands(op);
  const auto then_inputs = static_cast<std::size_t>(m.attributes(op).integer("then_inputs"));
  const auto middle = operands.begin() + 1 + static_cast<std::ptrdiff_t>(then_inputs);
  Branch branch;
  branch.binding.graph = m.graphs(op)[which];
  branch.binding.operands.assign(which == 0 ? operands.begin() + 1 : middle, which == 0 ? middle : operands.end());
  branch.binding.results.assign(m.results(op).begin(), m.results(op).end());
  const std::vector<ValueId> inputs = m.graph(branch.binding.graph).inputs;
  std::vector<ValueId> required;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (g.wants(branch.binding.operands[i]) && is_differentiable(m.type_of(inputs[i]).dtype)) required.push_back(inputs[i]);
  }
  branch.info = g.all().of_carried(branch.binding.graph, outputs_with_gradient(g, branch.binding), required);
  branch.output_of_input.assign(inputs.size(), -1);
  for (std::size_t o = 0; branch.info && o < branch.info->outputs.size(); ++o) {
    const auto i = position_in(inputs, branch.info->outputs[o].value);
    if (i && g.wants(branch.binding.operands[*i])) branch.output_of_input[*i] = static_cast<std::ptrdiff_t>(o);
  }
  return branch;
}

std::vector<Outcome> outcomes_of(const Branch (&branches)[2]) {
  std::vector<Outcome> all;
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t i = 0; i < branches[b].output_of_input.size(); ++i) {
      if (branches[b].output_of_input[i] < 0) continue;
      const ValueId operand = branches[b].binding.operands[i];
      auto it = std::find_if(all.begin(), all.end(), [&](const Outcome& o) { return o.operand == operand && o.input[b] < 0; });
      if (it == all.end()) it = all.insert(all.end(), Outcome{operand});
      it->input[b] = static_cast<std::ptrdiff_t>(i);
    }
  }
  return all;
}

// A graph that calls the branch's gradient graph and adds zeros, so that both branches give the same.
GraphId completed(GradientGraph& g, const Branch& branch, std::size_t which, const std::vector<Outcome>& outcomes) {
  Module& m = g.module();
  const std::string name = unique_graph_name(m, m.graph(branch.binding.graph).name + "_bwd_branch");
  const GraphId graph = g.builder().create_graph(name);
  std::vector<ValueId> gradients;
  if (branch.info) {
    const GraphId called[] = {branch.info->gradient};
    std::vector<ValueId> inputs;
    for (ValueId v : std::vector<ValueId>(m.graph(called[0]).inputs)) {
      inputs.push_back(m.add_input(graph, Type(m.type_of(v)), std::string(m.name_of(v))));
      g.builder().tensor_for(inputs.back());
    }
    const auto results = m.results(infer_and_add(m, graph, "call", inputs, {}, called));
    gradients.assign(results.begin(), results.end());
  }
  for (const Outcome& o : outcomes) {
    ValueId v;
    if (o.input[which] >= 0) {
      v = gradients[static_cast<std::size_t>(branch.output_of_input[static_cast<std::size_t>(o.input[which])])];
    } else {
      const Type& type = m.type_of(o.operand);
      Attributes a{{"shape", Ints(type.shape)}, {"dtype", type.dtype}, {"init_type", std::string("zero")}};
      if (!type.meta_shape.empty()) a.set("meta_shape", Ints(type.meta_shape));
      v = m.result(infer_and_add(m, graph, "init", {}, a, {}, false, type.place));
    }
    g.builder().add_output(graph, g.builder().tensor_for(v));
  }
  return graph;
}

// Whether the branch's gradient graph gives exactly what comes out.
bool complete(const Branch& branch, std::size_t which, const std::vector<Outcome>& outcomes) {
  if (!branch.info || branch.info->outputs.size() != outcomes.size()) return false;
  for (std::size_t o = 0; o < outcomes.size(); ++o) {
    const std::ptrdiff_t input = outcomes[o].input[which];
    if (input < 0 || branch.output_of_input[static_cast<std::size_t>(input)] != static_cast<std::ptrdiff_t>(o)) return false;
  }
  return true;
}

}  // namespace

void gradient_of_conditional(GradientGraph& g, OpId op) {
  const Branch branches[2] = {branch_of(g, op, 0), branch_of(g, op, 1)};
  const std::vector<Outcome> outcomes = outcomes_of(branches);
  if (outcomes.empty()) return;
  std::vector<ValueId> operands{g.forward_value(g.module().operand(op, 0))};
  std::vector<GraphId> graphs;
  std::int64_t then_inputs = 0;
  for (std::size_t b = 0; b < 2; ++b) {
    graphs.push_back(complete(branches[b], b, outcomes) ? branches[b].info->gradient : completed(g, branches[b], b, outcomes));
    if (branches[b].info) {
      const std::vector<ValueId> inputs = connect(g, branches[b].binding, *branches[b].info);
      operands.insert(operands.end(), inputs.begin(), inputs.end());
    }
    if (b == 0) then_inputs = static_cast<std::int64_t>(operands.size()) - 1;
  }
  const std::vector<ValueId> gradients = g.emit("conditional", operands, {{"then_inputs", then_inputs}}, graphs);
  for (std::size_t o = 0; o < outcomes.size(); ++o) g.give(outcomes[o].operand, gradients[o]);
}

}  // namespace pando::transform
