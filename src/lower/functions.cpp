// Called graphs: lowered where they are called, or once as functions.
#include "lower/lowering.h"

#include "base/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::lower {

using ir::GraphId;
using ir::ValueId;
using poplar::Tensor;
using poplar::program::Sequence;

void Lowering::collect_reachable(GraphId g, std::set<GraphId>& seen) const {
  if (!seen.insert(g).second) return;
  for (ir::OpId o : module_.graph(g).ops) {
    if (ir::has(module_.row(o).effects, ir::Effects::code)) continue;
    for (GraphId callee : module_.graphs(o)) collect_reachable(callee, seen);
  }
}

std::set<GraphId> Lowering::reachable(std::span<const GraphId> graphs) const {
  std::set<GraphId> seen;
  for (GraphId g : graphs) collect_reachable(g, seen);
  return seen;
}

// What the first call gives a function, if another function has made it or has read it before: where it lies there, so that copies
// rearrange nothing. A gradient gets what the forward pass has left, and weights as the forward pass reads them.
Tensor Lowering::operand_of_first_call(GraphId g, std::size_t input) {
  const ir::OpId call = analysis_.first_call(g);
  if (!call.valid() || input >= module_.operands(call).size()) return {};
  const ValueId v = module_.operand(call, input);
  // A function of a call, with its inputs, unless it is or calls one that is being lowered: that would be lowered twice.
  const auto other = [&](ir::OpId op) -> Function* {
    if (!op.valid() || module_.row(op).control != ir::Control::call) return nullptr;
    const GraphId f = module_.graphs(op)[0];
    if (!is_function(f)) return nullptr;
    const std::set<GraphId> below = reachable({&f, 1});
    const bool waits = std::any_of(below.begin(), below.end(), [&](GraphId b) { return being_lowered_.contains(b); });
    return waits ? nullptr : &function(f);
  };
  const ir::OpId producer = module_.value(v).producer;
  if (producer.valid()) {
    if (other(producer) == nullptr) return {};
    const auto& outputs = module_.graph(module_.graphs(producer)[0]).outputs;
    const auto results = module_.results(producer);
    const auto r = static_cast<std::size_t>(std::find(results.begin(), results.end(), v) - results.begin());
    return r < outputs.size() && has_slot(outputs[r]) ? slots_[outputs[r]].tensor : Tensor();
  }
  const auto& [reader, index] = analysis_.users(v).front();
  const Function* const f = other(reader);
  return f != nullptr && index < f->inputs.size() ? f->inputs[index] : Tensor();
}

Lowering::Function& Lowering::function(GraphId g) {
  const auto known = functions_.find(g);
  if (known != functions_.end()) {
    if (function_calls_) function_calls_->insert(known->second.calls.begin(), known->second.calls.end());
    return known->second;
  }
  being_lowered_.insert(g);
  Function f;
  f.number = ++function_count_;
  f.calls.insert(f.number);
  Sequence body{poplar::DebugContext(module_.graph(g).name)};
  Sequence* const program = program_;
  const auto scope = scope_, outer = function_;
  auto* const storages = function_storages_;
  auto* const calls = function_calls_;
  std::vector<ValueId> current = std::move(current_);
  program_ = &body;
  scope_ = ++scopes_;
  function_ = f.number;
  function_storages_ = &f.storages;
  function_calls_ = &f.calls;
  if (decisions_) decisions_.begin(fmt::format("graph {}, a function of {} ops", module_.graph(g).name, analysis_.sites(g)));
  for (ValueId v : module_.graph(g).inputs) {
    const Tensor given = operand_of_first_call(g, f.inputs.size());
    // Constants, and elements that are there twice, are no place for an input.
    const bool as_given = given.valid() && given.isParallelWriteable();
    const Tensor t = as_given ? graph_.clone(given, name_of(v)) : new_tensor(v);
    f.inputs.push_back(t);
    define(v, {t, {add_storage(true, false)}});
    if (!decisions_) continue;
    if (as_given) why_[v] = "as the first call gives it";
    tell_variable(v);
  }
  lower_ops(g);
  if (decisions_) decisions_.end();
  f.function = graph_.addFunction(body, {module_.graph(g).name});
  program_ = program;
  scope_ = scope;
  function_ = outer;
  function_storages_ = storages;
  function_calls_ = calls;
  current_ = std::move(current);
  if (function_calls_) function_calls_->insert(f.calls.begin(), f.calls.end());
  being_lowered_.erase(g);
  Function& made = functions_.emplace(g, std::move(f)).first->second;
  if (loads_) count_loads(made);
  return made;
}

bool Lowering::lie_together(ValueId v, ValueId w) { return &graph_at(module_.type_of(v).place) == &graph_at(module_.type_of(w).place); }

Slot Lowering::brought(ValueId from, ValueId to, Slot slot) {
  if (lie_together(from, to)) return slot;
  const Tensor there = new_tensor(to);
  if (there.numElements() > 0) program_->add(poplar::program::Copy(slot.tensor, there, false, name_of(to)));
  return fresh_slot(there);
}

// A function's own inputs lie where it wants them.
Slot Lowering::given(GraphId g, std::size_t i, ValueId operand, Slot slot) {
  return is_function(g) ? slot : brought(operand, module_.graph(g).inputs[i], std::move(slot));
}

void Lowering::run_graph(GraphId g, std::vector<Slot> inputs) {
  const ir::Graph& graph = module_.graph(g);
  PANDO_CHECK(inputs.size() == graph.inputs.size());
  if (is_function(g)) {
    Function& f = function(g);
    std::vector<Tensor> from;
    for (const Slot& s : inputs) from.push_back(s.tensor);
    for (std::size_t i = 0; decisions_ && i < inputs.size(); ++i) {
      decisions_.note(fmt::format("its '{}' is {}", name_of(graph.inputs[i]), from[i] == f.inputs[i] ? "there already" : "copied there"));
    }
    assign_all(f.inputs, from);
    program_->add(poplar::program::Call(f.function, {graph.name}));
    return;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) define(graph.inputs[i], std::move(inputs[i]));
  if (decisions_) decisions_.begin(fmt::format("graph {}, in the place of its op", graph.name));
  lower_ops(g);
  if (decisions_) decisions_.end();
}

// Whoever called has the results now; the graph's own values are read no more.
void Lowering::end_graph(GraphId g) {
  if (is_function(g)) return;
  for (ValueId v : module_.graph(g).outputs) analysis_.uses(v) = 0;
  for (ValueId v : module_.graph(g).finals) analysis_.uses(v) = 0;
}

Sequence Lowering::nested(const std::function<void()>& body) {
  Sequence steps;
  Sequence* const program = program_;
  const auto scope = scope_;
  program_ = &steps;
  scope_ = ++scopes_;
  body();
  program_ = program;
  scope_ = scope;
  return steps;
}

}  // namespace pando::lower
