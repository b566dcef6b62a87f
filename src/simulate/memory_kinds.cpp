#include "simulate/memory_kinds.h"

#include "ir/op_row.h"

#include <algorithm>

namespace pando::simulate {

MemoryKinds::MemoryKinds(const ir::Module& module)
    : m_(module),
      kinds_(module.value_count(), static_cast<std::uint8_t>(MemoryKind::workspace)),
      updates_(module.op_count(), false),
      of_state_(module.value_count(), false),
      backward_(module.value_count(), false),
      consumed_by_update_(module.value_count(), false),
      given_kind_(module.graph_count(), false),
      entered_(module.graph_count(), false) {}

const MemoryKinds::OpFacts& MemoryKinds::facts(ir::OpId o) {
  const std::size_t kind = m_.op(o).kind.index();
  if (kind >= by_kind_.size()) by_kind_.resize(kind + 1);
  OpFacts& f = by_kind_[kind];
  if (f.known) return f;
  const ir::OpRow& row = m_.row(o);
  f.known = true;
  f.gradient = row.phase == ir::OpPhase::backward;
  f.update = row.graphs <= 0 && (row.modifies[0].operand >= 0 || row.modifies_more != nullptr);
  f.transfer = ir::crosses_devices(row);
  const bool moves = f.transfer || row.elementwise || row.view != ir::View::none || row.tuple != ir::Tuple::none;
  f.carries = moves || row.adds == ir::Adds::elements;
  f.arithmetic = !f.gradient && (moves || row.phase == ir::OpPhase::update);
  return f;
}

void MemoryKinds::enter(ir::GraphId g) {
  if (entered_[g.index()]) return;
  entered_[g.index()] = true;
  const ir::Graph& graph = m_.graph(g);
  find_backward(graph);
  find_updates(graph);
  find_gradients(graph);
  if (!given_kind_[g.index()]) find_inputs(graph);
  for (std::size_t i = 0; i < graph.updated_inputs.size(); ++i) {
    if (of_state_[graph.updated_inputs[i].index()]) kinds_[graph.updated_inputs[i].index()] = kinds_[graph.inputs[i].index()];
  }
  for (ir::OpId o : graph.ops) {
    if (updates_[o.index()]) continue;
    const bool back = std::any_of(m_.results(o).begin(), m_.results(o).end(), [&](ir::ValueId v) { return backward_[v.index()]; });
    if (!back) continue;
    for (ir::ValueId v : m_.operands(o)) {
      if (!backward_[v.index()] && m_.value(v).producer.valid()) kinds_[v.index()] = static_cast<std::uint8_t>(MemoryKind::activations);
    }
  }
}

void MemoryKinds::find_backward(const ir::Graph& g) {
  const bool all = g.note.starts_with("Gradient");
  for (ir::OpId o : g.ops) {
    const OpFacts& f = facts(o);
    const bool from_operand =
        std::any_of(m_.operands(o).begin(), m_.operands(o).end(), [&](ir::ValueId v) { return backward_[v.index()]; });
    if (f.update) continue;
    for (ir::ValueId v : m_.results(o)) {
      if (all || f.gradient || from_operand) backward_[v.index()] = true;
      if (f.transfer && !backward_[v.index()]) kinds_[v.index()] = static_cast<std::uint8_t>(MemoryKind::buffers);
    }
  }
}

// Backwards from new versions of state; then forwards, what is made of state.
void MemoryKinds::find_updates(const ir::Graph& g) {
  std::vector<bool> wanted(m_.value_count(), false), wanted_elsewhere(m_.value_count(), false);
  for (ir::ValueId v : g.outputs) wanted_elsewhere[v.index()] = true;
  for (std::size_t i = 0; i < g.updated_inputs.size(); ++i) wanted[g.updated_inputs[i].index()] = g.updated_inputs[i] != g.inputs[i];
  for (std::size_t i = g.ops.size(); i-- > 0;) {
    const ir::OpId o = g.ops[i];
    const auto results = m_.results(o);
    const bool all = !results.empty() && facts(o).arithmetic && std::all_of(results.begin(), results.end(), [&](ir::ValueId v) {
      return wanted[v.index()] && !wanted_elsewhere[v.index()];
    });
    updates_[o.index()] = all;
    for (ir::ValueId v : m_.operands(o)) (all ? wanted : wanted_elsewhere)[v.index()] = true;
  }
  for (std::size_t i = 0; i < g.updated_inputs.size(); ++i) {
    if (g.updated_inputs[i] != g.inputs[i]) of_state_[g.inputs[i].index()] = true;
  }
  for (ir::OpId o : g.ops) {
    if (!updates_[o.index()]) continue;
    const bool any = std::any_of(m_.operands(o).begin(), m_.operands(o).end(), [&](ir::ValueId v) { return of_state_[v.index()]; });
    for (ir::ValueId v : m_.results(o)) of_state_[v.index()] = any;
  }
}

void MemoryKinds::find_gradients(const ir::Graph& g) {
  for (std::size_t i = g.ops.size(); i-- > 0;) {
    const ir::OpId o = g.ops[i];
    const OpFacts& f = facts(o);
    const auto results = m_.results(o);
    const bool makes_state =
        updates_[o.index()] && std::any_of(results.begin(), results.end(), [&](ir::ValueId v) { return of_state_[v.index()]; });
    const bool wanted =
        f.update || makes_state ||
        (f.carries && std::any_of(results.begin(), results.end(), [&](ir::ValueId v) { return consumed_by_update_[v.index()]; }));
    if (!wanted) continue;
    for (ir::ValueId v : m_.operands(o)) {
      if (!backward_[v.index()] || of_state_[v.index()]) continue;
      consumed_by_update_[v.index()] = true;
      kinds_[v.index()] = static_cast<std::uint8_t>(MemoryKind::gradients);
    }
  }
}

void MemoryKinds::find_inputs(const ir::Graph& g) {
  enum : std::uint8_t { kUpdated = 1, kReadElsewhere = 2, kState = 4 };
  std::vector<std::uint8_t> seen(g.inputs.size(), 0);
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    if (i < g.updated_inputs.size() && g.updated_inputs[i] != g.inputs[i]) seen[i] |= kState;
  }
  if (&g == &m_.graph(m_.main_graph())) {
    for (std::size_t s = 0; s < m_.state_count(); ++s) {
      const auto input = m_.state(ir::StateId(static_cast<std::uint32_t>(s))).input;
      if (input) seen[*input] |= kState;
    }
  }
  for (ir::OpId o : g.ops) {
    const OpFacts& f = facts(o);
    for (ir::ValueId v : m_.operands(o)) {
      if (m_.value(v).producer.valid()) continue;
      seen[m_.value(v).index] |= f.update || updates_[o.index()] ? kUpdated : kReadElsewhere;
    }
  }
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const bool state = seen[i] & (kState | kUpdated);
    const MemoryKind k = !state                                              ? MemoryKind::buffers
                         : seen[i] & kReadElsewhere || !(seen[i] & kUpdated) ? MemoryKind::weights
                                                                             : MemoryKind::optimizer;
    kinds_[g.inputs[i].index()] = static_cast<std::uint8_t>(k);
  }
}

void MemoryKinds::pass_to(ir::GraphId callee, std::span<const ir::ValueId> operands) {
  if (given_kind_[callee.index()]) return;
  given_kind_[callee.index()] = true;
  const auto& inputs = m_.graph(callee).inputs;
  for (std::size_t i = 0; i < inputs.size() && i < operands.size(); ++i) {
    kinds_[inputs[i].index()] = kinds_[operands[i].index()];
    backward_[inputs[i].index()] = backward_[operands[i].index()];
  }
}

}  // namespace pando::simulate
