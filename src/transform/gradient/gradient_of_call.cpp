// Gradients of ops that carry graphs: what they share, and calls.
#include "transform/gradient/gradient_graph.h"

#include "base/check.h"
#include "ir/error.h"

#include <algorithm>
#include <array>

namespace pando::transform {

using namespace ir;

GraphOpGradient graph_op_gradient(const OpRow& row) {
  struct Case {
    std::string_view name;
    GraphOpGradient gradient;
  };
  static constexpr std::array<Case, 3> cases{
      {{"call", gradient_of_call}, {"conditional", gradient_of_conditional}, {"repeat", gradient_of_repeat}}};
  if (row.graphs < 1) return nullptr;
  const auto it = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == row.name; });
  return it == cases.end() ? nullptr : it->gradient;
}

std::optional<std::size_t> position_in(std::span<const ValueId> list, ValueId v) {
  const auto it = std::find(list.begin(), list.end(), v);
  if (it == list.end()) return std::nullopt;
  return static_cast<std::size_t>(it - list.begin());
}

std::vector<ValueId> outputs_with_gradient(GradientGraph& g, const Binding& b) {
  std::vector<ValueId> out;
  const auto& outputs = g.module().graph(b.graph).outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (g.has_gradient(b.results[i]) && !position_in(out, outputs[i])) out.push_back(outputs[i]);
  }
  return out;
}

namespace {

// A graph may have one value as several outputs: its gradient is the sum of theirs.
ValueId gradient_of_output(GradientGraph& g, const Binding& b, ValueId output) {
  std::vector<ValueId> gradients;
  const std::vector<ValueId> outputs = g.module().graph(b.graph).outputs;
  std::optional<std::size_t> position;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != output) continue;
    position = i;
    if (g.has_gradient(b.results[i])) gradients.push_back(g.gradient(b.results[i]));
  }
  if (!position) {
    reject(ErrorClass::popart, "gradient-of-inner-tensor",
           "the gradient graph of '{}' takes a gradient of '{}', which is not an output of it", g.module().graph(b.graph).name,
           g.module().name_of(output));
  }
  if (gradients.empty()) return g.zeros(g.module().type_of(output));
  return g.sum(std::move(gradients), "Gradient___" + g.module().name_of(output));
}

}  // namespace

std::vector<ValueId> connect(GradientGraph& g, const Binding& b, const GradientInfo& info) {
  const std::vector<ValueId> inputs = g.module().graph(b.graph).inputs, outputs = g.module().graph(b.graph).outputs;
  std::unordered_map<ValueId, ValueId> bound;
  for (std::size_t i = 0; i < inputs.size(); ++i) bound.try_emplace(inputs[i], b.operands[i]);
  for (std::size_t o = 0; o < outputs.size(); ++o) bound.try_emplace(outputs[o], b.results[o]);
  std::vector<ValueId> operands;
  for (const Connection& c : info.inputs) {
    operands.push_back(c.kind == ConnectionKind::fwd_grad ? gradient_of_output(g, b, c.value) : g.forward_value(bound.at(c.value)));
  }
  return operands;
}

void gradient_of_call(GradientGraph& g, OpId op) {
  Module& m = g.module();
  Binding b{m.graphs(op)[0], {m.operands(op).begin(), m.operands(op).end()}, {m.results(op).begin(), m.results(op).end()}};
  const std::vector<bool>& wanted = g.wanted_inputs(b.graph);
  std::vector<ValueId> required;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const ValueId input = m.graph(b.graph).inputs[i];
    if (wanted[i] && carries_gradients(m, input)) required.push_back(input);
  }
  const GradientInfo* info = g.all().of_carried(b.graph, outputs_with_gradient(g, b), required);
  if (!info) return;
  // The call may have got further results.
  b.results.assign(m.results(op).begin(), m.results(op).end());
  const std::vector<GraphId> graphs{info->gradient};
  const std::vector<ValueId> gradients = g.emit("call", connect(g, b, *info), {}, graphs);
  for (std::size_t o = 0; o < info->outputs.size(); ++o) {
    const auto i = position_in(m.graph(b.graph).inputs, info->outputs[o].value);
    if (i && g.wants(b.operands[*i])) g.give(b.operands[*i], gradients[o]);
  }
}

}  // namespace pando::transform
