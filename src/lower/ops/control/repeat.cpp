#include "lower/parts/op_lowering.h"
#include "lower/parts/parts.h"
#include "lower/shared/step_context.h"

#include <algorithm>

namespace pando::lower {

using ir::ValueId;
using poplar::Tensor;

namespace {

bool contains(const ir::Ints& list, std::size_t i) {
  return std::find(list.begin(), list.end(), static_cast<std::int64_t>(i)) != list.end();
}

// What changes from one iteration to the next has storage of its own; the other inputs are read where they are, and nothing may write
// there.
void repeat_graph(OpLowering& o) {
  Parts& l = o.parts();
  const ir::GraphId g = o.module().graphs(o.op())[0];
  const ir::Graph& graph = o.module().graph(g);
  const std::size_t outputs = graph.outputs.size();
  const ir::Ints& modified = o.attributes().ints("modified");
  const auto changes = [&](std::size_t i) { return i < outputs || contains(modified, i); };
  std::vector<ValueId> held;
  for (std::size_t i = 0; i < o.operands(); ++i) {
    if (!changes(i)) held.push_back(l.storages.resolved(o.module().operand(o.op(), i)));
  }
  // Each iteration reads them: what lies in storage that the body overwrites has to move.
  for (ValueId v : held) l.storages.hold(v);
  l.functions.before_running({&g, 1});
  for (std::size_t i = 0; i < o.operands(); ++i) {
    if (changes(i)) o.take(i);
  }
  std::vector<Slot> inputs;
  for (std::size_t i = 0; i < o.operands(); ++i) {
    const ValueId operand = o.module().operand(o.op(), i);
    inputs.push_back(l.functions.given(g, i, operand, changes(i) ? o.taken(i) : l.storages.slot(operand)));
  }
  // Results where their types say.
  const auto define = [&](std::size_t result, std::size_t input, const Slot& slot) {
    const ValueId v = o.module().result(o.op(), result);
    l.storages.define(v, l.functions.brought(l.analysis.is_function(g) ? o.module().operand(o.op(), input) : graph.inputs[input], v, slot));
  };
  // An input that an output is carried to hands back what the last iteration made of the input itself.
  std::vector<Tensor> last;
  std::vector<Slot> last_slots;
  for (std::int64_t m : modified) {
    const auto i = static_cast<std::size_t>(m);
    if (i >= outputs) continue;
    last.push_back(l.places.top().clone(inputs[i].tensor, o.name() + "/last"));
    o.program().add(poplar::program::Copy(inputs[i].tensor, last.back()));
    last_slots.push_back(l.storages.fresh_slot(last.back()));
  }
  const poplar::program::Sequence body = l.cursor.nested([&] {
    l.functions.run_graph(g, inputs);
    std::vector<Tensor> to = last, from;
    for (std::int64_t m : modified) {
      if (static_cast<std::size_t>(m) < outputs) from.push_back(l.storages.slot(graph.updated_inputs[static_cast<std::size_t>(m)]).tensor);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!changes(i)) continue;
      to.push_back(inputs[i].tensor);
      from.push_back(l.storages.slot(i < outputs ? graph.outputs[i] : graph.updated_inputs[i]).tensor);
    }
    l.storages.assign_all(to, from);
    l.functions.end_graph(g);
  });
  for (ValueId v : held) l.storages.release(v);
  o.program().add(poplar::program::Repeat(static_cast<unsigned>(o.attributes().integer("count")), body, step_context(o)));
  for (std::size_t r = 0; r < outputs; ++r) define(r, r, inputs[r]);
  std::size_t next = 0;
  for (std::size_t k = 0; k < modified.size(); ++k) {
    const auto i = static_cast<std::size_t>(modified[k]);
    define(outputs + k, i, i < outputs ? last_slots[next++] : inputs[i]);
  }
}

}  // namespace

extern const Row lower_repeat;
constexpr Row lower_repeat = {.name = "repeat", .lower = repeat_graph};

}  // namespace pando::lower
