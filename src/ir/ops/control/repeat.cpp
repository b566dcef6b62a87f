#include "ir/semantics/graph_signature.h"
#include "ir/rows/define.h"
#include "ir/text/describe.h"

#include <algorithm>

namespace pando::ir {

namespace {

void infer_repeat(Inference& in) {
  check_graph_operands(in, 0, 0, in.operands());
  const Graph& graph = in.module().graph(in.graph());
  const std::int64_t count = in.attributes().integer("count");
  if (count < 0) in.reject("repeat-count", "a count of {}; it must be 0 or more", count);
  if (graph.outputs.size() > in.operands()) {
    in.reject("repeat-outputs", "graph '{}' has {} outputs and {} inputs; each output is carried to the input of its position", graph.name,
              graph.outputs.size(), in.operands());
  }
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    const Type out = graph_output_type(in, 0, o, 0);
    const Type& carried = in.operand(o);
    if (out.dtype != carried.dtype || out.shape != carried.shape || out.meta_shape != carried.meta_shape) {
      in.reject("repeat-carried-type", "output {} of graph '{}' is a {}, the input that it is carried to a {}: {} and {}", o, graph.name,
                in.module().types().to_string(out), in.module().types().to_string(carried), described(in.module(), graph.outputs[o]),
                described(in.module(), graph.inputs[o]));
    }
    in.result(out);
  }
  add_modified_results(in);
}

void run_repeat(GroupEvaluation& e) {
  std::vector<std::size_t> all(e.replicas());
  ReplicaValues inputs, updated_inputs;
  for (std::size_t r = 0; r < all.size(); ++r) {
    all[r] = r;
    inputs.push_back(e.operands(r));
  }
  // What each input has become in the iteration before: before the first, what it was.
  updated_inputs = inputs;
  const GraphId graph = e.module().graphs(e.op())[0];
  const std::size_t outputs = e.module().graph(graph).outputs.size();
  const Ints& modified = e.attributes().ints("modified");
  for (std::int64_t k = 0; k < e.attributes().integer("count"); ++k) {
    ReplicaValues out = e.run_graph(graph, inputs, all);
    for (std::size_t r : all) {
      for (std::int64_t m : modified) {
        const auto i = static_cast<std::size_t>(m);
        updated_inputs[r][i] = out[r][outputs + i];
        inputs[r][i] = updated_inputs[r][i];
      }
      std::copy_n(out[r].begin(), outputs, inputs[r].begin());
    }
  }
  for (std::size_t r : all) {
    for (std::size_t o = 0; o < outputs; ++o) e.result(r, inputs[r][o]);
    for (std::int64_t m : modified) e.result(r, updated_inputs[r][static_cast<std::size_t>(m)]);
  }
}

}  // namespace

extern const OpRow op_repeat;
constexpr OpRow op_repeat = checked({
    .name = "repeat",
    .doc = "Runs a graph `count` times. With N outputs, output i of one iteration is input i of the next; the results are the last "
           "iteration's outputs (the "
           "first N inputs where count is 0). Other inputs are the same for every iteration, but for those in `modified`: they keep what "
           "an iteration made "
           "of them, and are handed back after the graph's outputs. A modified input that an output is carried to hands back what the last "
           "iteration made "
           "of the input.",
    .signature = "repeat(graph: Graph, repeat_count: int, *inputs: Union[Tensor, Iterable[Tensor]], inputs_dict: Optional[Mapping[Tensor, "
                 "Tensor]]=None) -> "
                 "Tuple[Tensor, ...]",
    .operands = {{{.name = "inputs", .variadic = true}}},
    .attributes = {{{"count", AttributeKind::integer}, {"modified", AttributeKind::ints, false}}},
    .infer = infer_repeat,
    .reference_group = run_repeat,
    .differentiable = Differentiable::no,
    .in_program_only = true,
    .moves = true,
    .modifies_more = modified_inputs,
    .graphs = 1,
    .popart_type = "Loop",
    .whole = "its graphs are not cut",
    .control = Control::repeat,
});

}  // namespace pando::ir
