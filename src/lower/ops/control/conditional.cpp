#include "lower/lowering.h"

namespace pando::lower {

using ir::ValueId;
using poplar::Tensor;

namespace {

// Both branches leave their outputs in the same variables. What the second branch reads is kept while the first is lowered.
void choose_graph(OpLowering& o) {
  Lowering& l = o.lowering();
  const auto graphs = o.module().graphs(o.op());
  const auto then_inputs = static_cast<std::size_t>(o.attributes().integer("then_inputs"));
  const auto operands = o.module().operands(o.op());
  const std::size_t first[2] = {1, 1 + then_inputs}, end[2] = {1 + then_inputs, operands.size()};
  l.before_running(graphs);
  const Tensor predicate = o.operand(0).reshape({});
  for (std::size_t i = 0; i < operands.size(); ++i) l.slot(operands[i]);
  std::vector<Tensor> results(o.results());
  poplar::program::Sequence branches[2];
  for (std::size_t i = first[1]; i < end[1]; ++i) l.hold(l.resolved(operands[i]));
  for (std::size_t b = 0; b < 2; ++b) {
    if (b == 1) {
      for (std::size_t i = first[1]; i < end[1]; ++i) l.release(l.resolved(operands[i]));
    }
    branches[b] = l.nested([&] {
      std::vector<Slot> inputs;
      for (std::size_t i = first[b]; i < end[b]; ++i) inputs.push_back(l.given(graphs[b], i - first[b], operands[i], l.slot(operands[i])));
      l.run_graph(graphs[b], std::move(inputs));
      std::vector<Tensor> from;
      for (std::size_t r = 0; r < results.size(); ++r) {
        const ValueId output = o.module().graph(graphs[b]).outputs[r], result = o.module().result(o.op(), r);
        from.push_back(l.slot(output).tensor);
        if (b == 0) results[r] = l.lie_together(output, result) ? l.top_graph().clone(from[r], o.name()) : l.new_tensor(result);
      }
      l.assign_all(results, from);
      l.end_graph(graphs[b]);
    });
  }
  o.program().add(poplar::program::If(predicate, branches[0], branches[1], {o.name()}));
  for (std::size_t r = 0; r < results.size(); ++r) o.result(r, results[r]);
}

}  // namespace

extern const Row lower_conditional;
constexpr Row lower_conditional = {.name = "conditional", .lower = choose_graph};

}  // namespace pando::lower
