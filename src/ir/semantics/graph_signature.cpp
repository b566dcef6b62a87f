#include "ir/semantics/graph_signature.h"
#include "ir/rows/inference.h"

#include <algorithm>

namespace pando::ir {

void check_graph_operands(const Inference& in, std::size_t g, std::size_t first, std::size_t count) {
  const Graph& graph = in.module().graph(in.graph(g));
  if (graph.inputs.size() != count) {
    in.reject("graph-inputs", "graph '{}' has {} inputs, {} tensors were given", graph.name, graph.inputs.size(), count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Type &want = in.module().type_of(graph.inputs[i]), &have = in.operand(first + i);
    if (want.kind == have.kind && want.dtype == have.dtype && want.shape == have.shape && want.meta_shape == have.meta_shape) continue;
    const TypeTable& types = in.module().types();
    in.reject("graph-input-type", "input {} of graph '{}' ('{}') is a {}, a {} was given", i, graph.name,
              in.module().name_of(graph.inputs[i]), types.to_string(want), types.to_string(have));
  }
}

Type graph_output_type(const Inference& in, std::size_t g, std::size_t o, std::size_t first) {
  const Graph& graph = in.module().graph(in.graph(g));
  const ValueId v = graph.outputs[o];
  const auto input = std::find(graph.inputs.begin(), graph.inputs.end(), v);
  Type type = in.module().type_of(v);
  if (input != graph.inputs.end()) type.place = in.operand(first + static_cast<std::size_t>(input - graph.inputs.begin())).place;
  return type;
}

void add_modified_results(Inference& in) {
  for (std::int64_t i : in.attributes().ints("modified")) {
    if (i < 0 || i >= static_cast<std::int64_t>(in.operands()))
      in.reject("modified-range", "input {} is said to be modified; it has {}", i, in.operands());
    in.result(in.operand(static_cast<std::size_t>(i)));
  }
}

void modified_inputs(const Module& module, OpId op, std::vector<NewVersion>& all) {
  std::size_t result = module.graph(module.graphs(op)[0]).outputs.size();
  for (std::int64_t i : module.attributes(op).ints("modified")) all.push_back({static_cast<std::size_t>(i), result++});
}

}  // namespace pando::ir
