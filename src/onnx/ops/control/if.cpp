#include "ir/semantics/infer.h"
#include "onnx/importer.h"
#include "onnx/operator.h"

namespace pando::onnx {

namespace {

void give_bound(Context& c, Scope& scope, const std::vector<Bound>& outputs) {
  // Its graph may read more than the condition.
  c.from = Importer::inputs_of(outputs);
  for (std::size_t i = 0; i < c.node.outputs.size(); ++i) {
    if (outputs[i].known) {
      c.give_known(i, *outputs[i].known);
      c.give(ValueId());
    } else {
      c.give(c.importer().value_of(scope, outputs[i], c.node.outputs[i]));
    }
  }
}

// Both graphs of the module, and one op that runs one of them.
void choose_at_run_time(Context& c, const Graph& then, const Graph& otherwise) {
  std::vector<ir::GraphId> graphs;
  Values operands{c.operand(0)};
  std::int64_t then_inputs = 0;
  for (const Graph* g : {&then, &otherwise}) {
    Scope scope = c.importer().graph_scope(c, g == &then ? "then" : "else");
    const std::vector<Bound> outputs = c.importer().read_graph(scope, *g, {}, c);
    if (outputs.size() != c.node.outputs.size())
      c.reject(fmt::format("a branch has {} outputs for {} results", outputs.size(), c.node.outputs.size()));
    for (const Bound& b : outputs) c.module().add_output(scope.graph, c.importer().value_of(scope, b, "output"));
    operands.insert(operands.end(), scope.captured.begin(), scope.captured.end());
    if (g == &then) then_inputs = static_cast<std::int64_t>(scope.captured.size());
    graphs.push_back(scope.graph);
  }
  const ir::OpId op = ir::infer_and_add(c.module(), c.graph(), "conditional", operands, {{"then_inputs", then_inputs}}, graphs, false, {},
                                        c.node.outputs[0]);
  c.results.assign(c.module().results(op).begin(), c.module().results(op).end());
}

}  // namespace

extern const Operator onnx_if;
constexpr Operator onnx_if = {
    .signature = "If(cond; then_branch!: graph, else_branch!: graph) -> outputs...",
    .rule =
        [](Context& c) {
          const Graph &then = *c.node.attributes.at("then_branch").graph, &otherwise = *c.node.attributes.at("else_branch").graph;
          if (ir::elements_of(c.shape_of(0)) != 1 || c.dtype_of(0) != DType::boolean) c.reject("the condition is not one element of bool");
          if (!c.known[0]) return choose_at_run_time(c, then, otherwise);
          Scope inner;
          inner.parent = &c.scope();
          inner.opsets = c.scope().opsets;
          inner.graph = c.graph();
          const std::vector<Bound> outputs = c.importer().read_graph(inner, c.known[0]->integer(0) != 0 ? then : otherwise, {}, c);
          if (outputs.size() != c.node.outputs.size())
            c.reject(fmt::format("a branch has {} outputs for {} results", outputs.size(), c.node.outputs.size()));
          give_bound(c, inner, outputs);
        },
};

}  // namespace pando::onnx
