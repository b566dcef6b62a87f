#include "lower/parts/functions.h"

#include "base/check.h"
#include "lower/parts/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::lower {

using ir::GraphId;
using ir::ValueId;
using poplar::Tensor;
using poplar::program::Sequence;

void Functions::collect_reachable(GraphId g, std::set<GraphId>& seen) const {
  if (!seen.insert(g).second) return;
  for (ir::OpId o : parts_.module.graph(g).ops) {
    if (ir::has(parts_.module.row(o).effects, ir::Effects::code)) continue;
    for (GraphId callee : parts_.module.graphs(o)) collect_reachable(callee, seen);
  }
}

std::set<GraphId> Functions::reachable(std::span<const GraphId> graphs) const {
  std::set<GraphId> seen;
  for (GraphId g : graphs) collect_reachable(g, seen);
  return seen;
}

// What the first call gives a function, if another function has made it or has read it before: where it lies there, so that copies
// rearrange nothing. A gradient gets what the forward pass has left, and weights as the forward pass reads them.
Tensor Functions::operand_of_first_call(GraphId g, std::size_t input) {
  const ir::OpId call = parts_.analysis.first_call(g);
  if (!call.valid() || input >= parts_.module.operands(call).size()) return {};
  const ValueId v = parts_.module.operand(call, input);
  // A function of a call, with its inputs, unless it is or calls one that is being lowered: that would be lowered twice.
  const auto other = [&](ir::OpId op) -> Function* {
    if (!op.valid() || parts_.module.row(op).control != ir::Control::call) return nullptr;
    const GraphId f = parts_.module.graphs(op)[0];
    if (!parts_.analysis.is_function(f)) return nullptr;
    const std::set<GraphId> below = reachable({&f, 1});
    const bool waits = std::any_of(below.begin(), below.end(), [&](GraphId b) { return being_lowered_.contains(b); });
    return waits ? nullptr : &function(f);
  };
  const ir::OpId producer = parts_.module.value(v).producer;
  if (producer.valid()) {
    if (other(producer) == nullptr) return {};
    const auto& outputs = parts_.module.graph(parts_.module.graphs(producer)[0]).outputs;
    const auto results = parts_.module.results(producer);
    const auto r = static_cast<std::size_t>(std::find(results.begin(), results.end(), v) - results.begin());
    return r < outputs.size() && parts_.storages.has_slot(outputs[r]) ? parts_.storages.own_slot(outputs[r]).tensor : Tensor();
  }
  const auto& [reader, index] = parts_.analysis.users(v).front();
  const Function* const f = other(reader);
  return f != nullptr && index < f->inputs.size() ? f->inputs[index] : Tensor();
}

// Its inputs have variables of their own; then its ops.
void Functions::lower_body(GraphId g, Function& f) {
  Storages& storages = parts_.storages;
  Decisions& decisions = parts_.decisions;
  const std::string& name = parts_.module.graph(g).name;
  if (decisions) decisions.begin(fmt::format("graph {}, a function of {} ops", name, parts_.analysis.sites(g)));
  for (ValueId v : parts_.module.graph(g).inputs) {
    const Tensor given = operand_of_first_call(g, f.inputs.size());
    // Constants, and elements that are there twice, are no place for an input.
    const bool as_given = given.valid() && given.isParallelWriteable();
    const Tensor t = as_given ? parts_.places.top().clone(given, parts_.module.name_of(v)) : parts_.layouts.new_tensor(v);
    f.inputs.push_back(t);
    storages.define(v, storages.home_slot(t));
    if (!decisions) continue;
    if (as_given) decisions.give_reason(v, "as the first call gives it");
    parts_.telling.variable(v);
  }
  parts_.fusion.lower_ops(g);
  if (decisions) decisions.end();
}

Functions::Function& Functions::function(GraphId g) {
  const auto known = functions_.find(g);
  if (known != functions_.end()) {
    parts_.cursor.call(known->second.frame);
    return known->second;
  }
  being_lowered_.insert(g);
  Function f;
  const std::string& name = parts_.module.graph(g).name;
  Sequence body{poplar::DebugContext(name)};
  std::vector<ValueId> guarded = parts_.storages.set_guarded({});
  parts_.cursor.in_function(f.frame, body, [&] { lower_body(g, f); });
  parts_.storages.set_guarded(std::move(guarded));
  f.function = parts_.places.top().addFunction(body, {name});
  being_lowered_.erase(g);
  Function& made = functions_.emplace(g, std::move(f)).first->second;
  parts_.memory.add_function(made.inputs, made.frame);
  return made;
}

void Functions::before_running(std::span<const GraphId> graphs) {
  for (GraphId g : reachable(graphs))
    if (parts_.analysis.is_function(g)) parts_.storages.bring_out(function(g).frame);
}

Slot Functions::brought(ValueId from, ValueId to, Slot slot) {
  if (parts_.places.lie_together(from, to)) return slot;
  const Tensor there = parts_.layouts.new_tensor(to);
  if (there.numElements() > 0) parts_.cursor.program().add(poplar::program::Copy(slot.tensor, there, false, parts_.module.name_of(to)));
  return parts_.storages.fresh_slot(there);
}

// A function's own inputs lie where it wants them.
Slot Functions::given(GraphId g, std::size_t i, ValueId operand, Slot slot) {
  return parts_.analysis.is_function(g) ? slot : brought(operand, parts_.module.graph(g).inputs[i], std::move(slot));
}

void Functions::run_graph(GraphId g, std::vector<Slot> inputs) {
  const ir::Graph& graph = parts_.module.graph(g);
  PANDO_CHECK(inputs.size() == graph.inputs.size());
  if (parts_.analysis.is_function(g)) {
    Function& f = function(g);
    std::vector<Tensor> from;
    for (const Slot& s : inputs) from.push_back(s.tensor);
    for (std::size_t i = 0; parts_.decisions && i < inputs.size(); ++i) {
      parts_.decisions.note(
          fmt::format("its '{}' is {}", parts_.module.name_of(graph.inputs[i]), from[i] == f.inputs[i] ? "there already" : "copied there"));
    }
    parts_.storages.assign_all(f.inputs, from);
    parts_.cursor.program().add(poplar::program::Call(f.function, {graph.name}));
    return;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) parts_.storages.define(graph.inputs[i], std::move(inputs[i]));
  if (parts_.decisions) parts_.decisions.begin(fmt::format("graph {}, in the place of its op", graph.name));
  parts_.fusion.lower_ops(g);
  if (parts_.decisions) parts_.decisions.end();
}

// Whoever called has the results now; the graph's own values are read no more.
void Functions::end_graph(GraphId g) {
  if (parts_.analysis.is_function(g)) return;
  for (ValueId v : parts_.module.graph(g).outputs) parts_.analysis.uses(v) = 0;
  for (ValueId v : parts_.module.graph(g).updated_inputs) parts_.analysis.uses(v) = 0;
}

}  // namespace pando::lower
