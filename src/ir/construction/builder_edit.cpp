// Changing what is there: ops taken out, outputs and operands of calls put in.
#include "ir/construction/builder.h"

#include "base/check.h"
#include "ir/error.h"
#include "ir/op_table.h"

#include <algorithm>

namespace pando::ir {

// (result, operand) of an op where the result is a new version of the operand.
std::vector<std::pair<ValueId, ValueId>> Builder::versions_of(OpId op) const {
  std::vector<std::pair<ValueId, ValueId>> pairs;
  for (const NewVersion& n : new_versions(module_, op)) pairs.emplace_back(module_.result(op, n.result), module_.operand(op, n.operand));
  return pairs;
}

void Builder::replace_uses(GraphId graph, ValueId from, ValueId to) {
  Graph& g = module_.graph(graph);
  for (OpId o : g.ops) {
    for (std::uint32_t i = 0; i < module_.op(o).operand_count; ++i) {
      if (module_.operand(o, i) == from) module_.set_operand(o, i, to);
    }
  }
  std::replace(g.outputs.begin(), g.outputs.end(), from, to);
  std::replace(g.updated_inputs.begin(), g.updated_inputs.end(), from, to);
}

// What a tensor of its own holds that holds a result of an op that goes: the version before, where the op says which, or its first
// contents.
void Builder::roll_back(TensorId root, OpId erased, std::span<const std::pair<ValueId, ValueId>> versions) {
  for (TensorId base : std::vector<TensorId>(tensors_[root].bases)) roll_back(base, erased, versions);
  Tensor& t = tensors_[root];
  if (!t.bases.empty() || !t.value.valid() || module_.value(t.value).producer != erased || t.first_value == t.value) return;
  const auto it = std::find_if(versions.begin(), versions.end(), [&](const auto& v) { return v.first == t.value; });
  t.value = it == versions.end() ? t.first_value : it->second;
  ++t.version;
}

void Builder::erase(OpId op) {
  const GraphId graph = module_.op(op).graph;
  const auto versions = versions_of(op);
  for (const auto& [result, operand] : versions) replace_uses(graph, result, operand);
  // Views that were taken again or put back on behalf of this op.
  const std::vector<ValueId> results(module_.results(op).begin(), module_.results(op).end());
  for (OpId o : std::vector<OpId>(module_.graph(graph).ops)) {
    const auto reads = module_.operands(o);
    if (!module_.op(o).implicit || module_.op(o).erased) continue;
    if (!std::any_of(reads.begin(), reads.end(), [&](ValueId v) { return std::find(results.begin(), results.end(), v) != results.end(); }))
      continue;
    for (TensorId t : std::vector<TensorId>(operand_tensors(op).begin(), operand_tensors(op).end())) roll_back(t, o, {});
    erase(o);
  }
  for (TensorId t : std::vector<TensorId>(operand_tensors(op).begin(), operand_tensors(op).end())) roll_back(t, op, versions);
  std::vector<OpId> before, behind;
  for (const auto& [first, then] : module_.graph(graph).after) {
    if (then == op) before.push_back(first);
    if (first == op) behind.push_back(then);
  }
  module_.erase(op);
  for (OpId b : before) {
    for (OpId a : behind) module_.graph(graph).after.emplace_back(b, a);
  }
  for (Sequence& s : sequences_) {
    for (auto* lists : {&s.previous, &s.collected}) {
      for (auto& [key, ops] : *lists) {
        if (std::erase(ops, op) != 0) ops.insert(ops.end(), before.begin(), before.end());
      }
    }
  }
}

void Builder::remove_output(GraphId graph, std::size_t index) {
  const std::string& name = module_.graph(graph).name;
  if (index >= outputs_[graph.index()].size()) {
    reject(ErrorClass::value, "no-such-output", "graph '{}' has {} outputs; there is no output {}", name, outputs_[graph.index()].size(),
           index);
  }
  for (std::size_t g = 0; g < module_.graph_count(); ++g) {
    for (OpId o : module_.graph(GraphId(static_cast<GraphId::rep>(g))).ops) {
      const auto graphs = module_.graphs(o);
      if (std::find(graphs.begin(), graphs.end(), graph) == graphs.end()) continue;
      reject(ErrorClass::value, "output-of-called-graph", "graph '{}' is called by '{}': its outputs can no longer be removed", name,
             module_.name_of(o));
    }
  }
  outputs_[graph.index()].erase(outputs_[graph.index()].begin() + static_cast<std::ptrdiff_t>(index));
  std::vector<ValueId>& values = module_.graph(graph).outputs;
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(index));
}

void Builder::set_output(GraphId graph, std::size_t index, TensorId tensor) {
  const std::string& name = module_.graph(graph).name;
  if (index >= outputs_[graph.index()].size()) {
    reject(ErrorClass::value, "no-such-output", "graph '{}' has {} outputs; there is no output {}", name, outputs_[graph.index()].size(),
           index);
  }
  const Type &old = type_of(outputs_[graph.index()][index]), &now = type_of(tensor);
  if (tensors_[tensor].graph != graph || old.shape != now.shape || old.dtype != now.dtype) {
    reject(ErrorClass::value, "output-of-another-type",
           "output {} of graph '{}' cannot become '{}', which is not a tensor of that graph, shape and type", index, name, id_of(tensor));
  }
  outputs_[graph.index()][index] = tensor;
  module_.graph(graph).outputs[index] = value_of(tensor);
}

void Builder::hold_instead(ValueId from, ValueId to) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    Tensor& t = tensors_[TensorId(static_cast<TensorId::rep>(i))];
    if (t.value == from) t.value = to;
    if (t.first_value == from) t.first_value = to;
  }
  if (const auto t = tensor_of(from)) {
    tensor_of_.at_or_add(to) = *t;
    module_.set_name(to, module_.value(from).name);
  }
}

void Builder::rename(TensorId tensor, std::string_view name) {
  Tensor& t = tensors_[tensor];
  t.name = module_.name(name);
  if (t.first_value.valid()) module_.set_name(t.first_value, t.name);
}

// What a tensor of its own held when an op ran: its versions, followed up to the op.
ValueId Builder::value_before(OpId op, TensorId root) const {
  ValueId value = tensors_[root].first_value;
  for (OpId o : module_.graph(module_.op(op).graph).ops) {
    if (o == op) break;
    for (const auto& [result, operand] : versions_of(o)) {
      if (operand == value) value = result;
    }
  }
  return value;
}

void Builder::add_call_operand(OpId call, TensorId tensor) {
  const Tensor& t = tensors_[tensor];
  const auto graphs = module_.graphs(call);
  if (graphs.size() != 1 || t.graph != module_.op(call).graph) {
    reject(ErrorClass::value, "operand-of-no-call",
           "'{}' cannot become an operand of '{}', which is not a call or repeat in the graph of that tensor", id_of(tensor),
           module_.name_of(call));
  }
  const std::size_t index = module_.operands(call).size();
  const Graph& callee = module_.graph(graphs[0]);
  if (index >= callee.inputs.size()) {
    reject(ErrorClass::value, "no-such-input", "graph '{}' has {} inputs, and '{}' gives all of them", callee.name, callee.inputs.size(),
           module_.name_of(call));
  }
  module_.append_operand(call, t.bases.empty() ? value_before(call, tensor) : value_of(tensor));
  std::vector<TensorId> operands(operand_tensors(call).begin(), operand_tensors(call).end());
  operands.push_back(tensor);
  keep_operands(call, operands);
  if (callee.by_ref[index]) set_modified(call, static_cast<std::uint32_t>(index));
}

}  // namespace pando::ir
