#include "ir/semantics/graph_signature.h"
#include "ir/rows/define.h"
#include "ir/text/describe.h"

namespace pando::ir {

namespace {

void infer_conditional(Inference& in) {
  if (in.operand(0).shape != Shape{} && in.operand(0).shape != Shape{1}) {
    in.reject("condition-shape", "the condition has shape {}; it is one element", to_string(in.shape(0)));
  }
  const std::int64_t then_inputs = in.attributes().integer("then_inputs");
  const auto inputs = static_cast<std::int64_t>(in.operands()) - 1;
  if (then_inputs < 0 || then_inputs > inputs)
    in.reject("then-inputs", "{} of {} inputs are said to be the first branch's", then_inputs, inputs);
  const std::size_t first[2] = {1, static_cast<std::size_t>(1 + then_inputs)};
  check_graph_operands(in, 0, first[0], static_cast<std::size_t>(then_inputs));
  check_graph_operands(in, 1, first[1], static_cast<std::size_t>(inputs - then_inputs));
  const Graph &then = in.module().graph(in.graph(0)), &otherwise = in.module().graph(in.graph(1));
  if (then.outputs.size() != otherwise.outputs.size()) {
    in.reject("branch-outputs", "graph '{}' has {} outputs, graph '{}' {}", then.name, then.outputs.size(), otherwise.name,
              otherwise.outputs.size());
  }
  for (std::size_t o = 0; o < then.outputs.size(); ++o) {
    Type a = graph_output_type(in, 0, o, first[0]);
    const Type b = graph_output_type(in, 1, o, first[1]);
    if (a.kind != b.kind || a.dtype != b.dtype || a.shape != b.shape || a.meta_shape != b.meta_shape) {
      const Module& m = in.module();
      const auto [one, other] = std::pair(m.types().to_string(a), m.types().to_string(b));
      in.reject("branch-output-type", "output {} is a {} of graph '{}' and a {} of graph '{}': {} and {}", o, one, then.name, other,
                otherwise.name, described(m, then.outputs[o]), described(m, otherwise.outputs[o]));
    }
    if (!a.place.device.known()) a.place.device = b.place.device;
    if (a.place.tiles == TileSet::undefined) a.place.tiles = b.place.tiles;
    in.result(std::move(a));
  }
}

void run_conditional(GroupEvaluation& e) {
  const auto then_inputs = static_cast<std::ptrdiff_t>(e.attributes().integer("then_inputs"));
  for (std::size_t branch = 0; branch < 2; ++branch) {
    std::vector<std::size_t> positions;
    ReplicaValues inputs;
    for (std::size_t r = 0; r < e.replicas(); ++r) {
      const auto& all = e.operands(r);
      const bool takes_first = e.operand(r, 0).integer(0) != 0;
      if (takes_first != (branch == 0)) continue;
      positions.push_back(r);
      const auto middle = all.begin() + 1 + then_inputs;
      inputs.emplace_back(branch == 0 ? all.begin() + 1 : middle, branch == 0 ? middle : all.end());
    }
    if (positions.empty()) continue;
    const GraphId graph = e.module().graphs(e.op())[branch];
    const ReplicaValues out = e.run_graph(graph, std::move(inputs), positions);
    for (std::size_t p = 0; p < positions.size(); ++p) {
      for (std::size_t o = 0; o < e.module().graph(graph).outputs.size(); ++o) e.result(positions[p], out[p][o]);
    }
  }
}

}  // namespace

extern const OpRow op_conditional;
constexpr OpRow op_conditional = checked({
    .name = "conditional",
    .doc =
        "Runs one of two graphs: the first where `cond` holds. Only that one's effects happen. Operands: the condition, the first graph's "
        "inputs "
        "(`then_inputs` of them), the second's. Both graphs give as many outputs of the same types. Replicas may take different branches.",
    .signature =
        "conditional(cond: Tensor, then_branch: Graph, else_branch: Graph, then_inputs: Optional[Iterable[Union[Tensor, "
        "Iterable[Tensor]]]]=None, "
        "else_inputs: Optional[Iterable[Union[Tensor, Iterable[Tensor]]]]=None, then_inputs_dict: Optional[Mapping[Tensor, Tensor]]=None, "
        "else_inputs_dict: Optional[Mapping[Tensor, Tensor]]=None) -> Tuple[Tensor, ...]",
    .operands = {{{"cond", only_bool}, {.name = "inputs", .variadic = true}}},
    .attributes = {{{"then_inputs", AttributeKind::integer}}},
    .infer = infer_conditional,
    .reference_group = run_conditional,
    // Autodiff differentiates the graphs themselves.
    .differentiable = Differentiable::no,
    .in_program_only = true,
    .moves = true,
    .graphs = 2,
    .popart_type = "If",
    .whole = "its graphs are not cut",
    .control = Control::branch,
});

}  // namespace pando::ir
