#include "ir/semantics/graph_signature.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_call;
constexpr OpRow op_call = checked({
    .name = "call",
    .doc = "Runs a graph on values. Inputs go by value: what the graph does to them in place stays inside, but for the inputs in "
           "`modified`, whose "
           "contents at the end are further results after the graph's outputs.",
    .signature =
        "call(graph: Graph, *inputs: Union[TensorLike, Iterable[TensorLike]], inputs_dict: Optional[Mapping[Tensor, TensorLike]]=None) -> "
        "Tuple[Tensor, ...]",
    .operands = {{{.name = "inputs", .variadic = true}}},
    .attributes = {{{"modified", AttributeKind::ints, false}}},
    .infer =
        [](Inference& in) {
          check_graph_operands(in, 0, 0, in.operands());
          const std::size_t outputs = in.module().graph(in.graph()).outputs.size();
          for (std::size_t o = 0; o < outputs; ++o) in.result(graph_output_type(in, 0, o, 0));
          add_modified_results(in);
        },
    .reference_group =
        [](GroupEvaluation& e) {
          std::vector<std::size_t> all(e.replicas());
          ReplicaValues inputs;
          for (std::size_t r = 0; r < all.size(); ++r) {
            all[r] = r;
            inputs.push_back(e.operands(r));
          }
          const GraphId graph = e.module().graphs(e.op())[0];
          const std::size_t outputs = e.module().graph(graph).outputs.size();
          const ReplicaValues out = e.run_graph(graph, std::move(inputs), all);
          for (std::size_t r : all) {
            for (std::size_t o = 0; o < outputs; ++o) e.result(r, out[r][o]);
            for (std::int64_t i : e.attributes().ints("modified")) e.result(r, out[r][outputs + static_cast<std::size_t>(i)]);
          }
        },
    // Autodiff differentiates the graph itself.
    .differentiable = Differentiable::no,
    .in_program_only = true,
    .moves = true,
    .modifies_more = modified_inputs,
    .graphs = 1,
    .popart_type = "Call",
    .whole = "its graphs are not cut",
    .control = Control::call,
});

}  // namespace pando::ir
