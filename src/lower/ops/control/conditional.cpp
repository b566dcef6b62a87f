#include "lower/parts/op_lowering.h"
#include "lower/parts/parts.h"
#include "lower/shared/step_context.h"

namespace pando::lower {

using ir::ValueId;
using poplar::Tensor;

namespace {

// Both branches leave their outputs in the same variables. What the second branch reads is kept while the first is lowered.
void choose_graph(OpLowering& o) {
  Parts& l = o.parts();
  const auto graphs = o.module().graphs(o.op());
  const auto then_inputs = static_cast<std::size_t>(o.attributes().integer("then_inputs"));
  const auto operands = o.module().operands(o.op());
  const std::size_t first[2] = {1, 1 + then_inputs}, end[2] = {1 + then_inputs, operands.size()};
  l.functions.before_running(graphs);
  const Tensor predicate = o.operand(0).reshape({});
  for (std::size_t i = 0; i < operands.size(); ++i) l.storages.slot(operands[i]);
  std::vector<Tensor> results(o.results());
  poplar::program::Sequence branches[2];
  for (std::size_t i = first[1]; i < end[1]; ++i) l.storages.hold(l.storages.resolved(operands[i]));
  for (std::size_t b = 0; b < 2; ++b) {
    if (b == 1) {
      for (std::size_t i = first[1]; i < end[1]; ++i) l.storages.release(l.storages.resolved(operands[i]));
    }
    branches[b] = l.cursor.nested([&] {
      std::vector<Slot> inputs;
      for (std::size_t i = first[b]; i < end[b]; ++i)
        inputs.push_back(l.functions.given(graphs[b], i - first[b], operands[i], l.storages.slot(operands[i])));
      l.functions.run_graph(graphs[b], std::move(inputs));
      std::vector<Tensor> from;
      for (std::size_t r = 0; r < results.size(); ++r) {
        const ValueId output = o.module().graph(graphs[b]).outputs[r], result = o.module().result(o.op(), r);
        from.push_back(l.storages.slot(output).tensor);
        const bool together = l.places.lie_together(output, result);
        if (b == 0) results[r] = together ? l.places.top().clone(from[r], o.name()) : l.layouts.new_tensor(result);
      }
      l.storages.assign_all(results, from);
      l.functions.end_graph(graphs[b]);
    });
  }
  o.program().add(poplar::program::If(predicate, branches[0], branches[1], step_context(o)));
  for (std::size_t r = 0; r < results.size(); ++r) o.result(r, results[r]);
}

}  // namespace

extern const Row lower_conditional;
constexpr Row lower_conditional = {.name = "conditional", .lower = choose_graph};

}  // namespace pando::lower
