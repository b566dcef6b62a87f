#include "ir/construction/builder.h"

#include "base/check.h"
#include "base/source_location.h"
#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/rows/gradient.h"
#include "ir/rows/inference.h"
#include "ir/semantics/infer.h"

#include <algorithm>

namespace pando::ir {

// Writes into a graph on behalf of the builder: what rows say of putting views back.
class BuilderExpansion : public Expansion {
 public:
  BuilderExpansion(Builder& builder, GraphId graph, std::vector<ValueId> operands, const Attributes& attributes)
      : builder_(builder), graph_(graph), operands_(std::move(operands)), attributes_(attributes) {}

  const Attributes& attributes() const override { return attributes_; }
  std::size_t operands() const override { return operands_.size(); }
  ValueId operand(std::size_t i) const override { return operands_[i]; }
  const Type& type_of(ValueId v) const override { return builder_.module_.type_of(v); }
  const Type& result_type(std::size_t) const override { return type_of(operands_.back()); }
  ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes) override {
    return ops(name, std::span(operands.begin(), operands.size()), attributes)[0];
  }
  std::vector<ValueId> ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes) override {
    const OpId id = builder_.emit(graph_, name, operands, attributes, {}, false, true, {});
    const auto results = builder_.module_.results(id);
    return {results.begin(), results.end()};
  }
  ValueId scalar(DType dtype, double value) override {
    const BlobId blob = builder_.module_.add_blob(HostTensor::filled(dtype, {}, value));
    return op("constant", {}, {{"data", blob}});
  }
  void result(ValueId v) override { results.push_back(v); }

  std::vector<ValueId> results;

 private:
  Builder& builder_;
  GraphId graph_;
  std::vector<ValueId> operands_;
  Attributes attributes_;
};

namespace {

std::int64_t checked_replicas(std::int64_t n) {
  if (n < 1 || n > 65536) reject(ErrorClass::value, "replicas", "a program of {} replicas; 1 to 65536 are possible", n);
  return n;
}

// A graph that would run itself. Loading its code does not run it.
void reject_cycle(const Module& m, GraphId graph, GraphId carried, std::string_view name) {
  if (has(row_of(op_kind(name)).effects, Effects::code)) return;
  std::vector<GraphId> stack{carried};
  std::vector<bool> seen(m.graph_count(), false);
  while (!stack.empty()) {
    const GraphId g = stack.back();
    stack.pop_back();
    if (g == graph || g == m.main_graph()) {
      reject(ErrorClass::value, "graph-cycle", "{}: graph '{}' cannot run '{}', which {}", name, m.graph(graph).name, m.graph(carried).name,
             g == graph ? "leads back to it" : "is or runs the main graph");
    }
    if (seen[g.index()]) continue;
    seen[g.index()] = true;
    // The main graph is carried by none: nothing leads back to it.
    if (graph == m.main_graph()) continue;
    for (OpId o : m.graph(g).ops) {
      if (m.op(o).graph_count == 0 || has(m.row(o).effects, Effects::code)) continue;
      for (GraphId next : m.graphs(o)) stack.push_back(next);
    }
  }
}

}  // namespace

Builder::Builder(std::int64_t replicas) : module_(checked_replicas(replicas)) { create_graph("main"); }

GraphId Builder::create_graph(std::string name) {
  inputs_.emplace_back();
  outputs_.emplace_back();
  return module_.add_graph(std::move(name));
}

std::string Builder::scoped(std::string_view name) const {
  std::string text;
  for (const std::string& s : scopes_) text += s + "/";
  return text + std::string(name);
}

TensorId Builder::add_tensor(Tensor t) {
  const ValueId v = t.first_value;
  const TensorId id = tensors_.push(std::move(t));
  if (v.valid()) tensor_of_.at_or_add(v) = id;
  return id;
}

TensorId Builder::add_input(GraphId graph, const Type& type, std::string_view name, bool by_ref) {
  const ValueId v = module_.add_input(graph, type, scoped(name.empty() ? "t" : name), by_ref);
  Tensor t;
  t.graph = graph;
  t.name = module_.value(v).name;
  t.type = module_.value(v).type;
  t.value = t.first_value = v;
  inputs_[graph.index()].push_back(add_tensor(std::move(t)));
  return inputs_[graph.index()].back();
}

void Builder::add_output(GraphId graph, TensorId tensor) {
  if (tensors_[tensor].graph != graph) {
    reject(ErrorClass::value, "output-of-another-graph", "'{}' is not a tensor of graph '{}'", id_of(tensor), module_.graph(graph).name);
  }
  outputs_[graph.index()].push_back(tensor);
  module_.add_output(graph, value_of(tensor));
}

std::string Builder::id_of(TensorId t) const {
  const Tensor& tensor = tensors_[t];
  if (tensor.graph == module_.main_graph()) return module_.text(tensor.name);
  return module_.graph(tensor.graph).name + "/" + module_.text(tensor.name);
}

std::optional<TensorId> Builder::tensor_of(ValueId v) const {
  if (v.index() >= tensor_of_.size() || !tensor_of_[v].valid()) return std::nullopt;
  return tensor_of_[v];
}

TensorId Builder::tensor_for(ValueId v) {
  if (const auto known = tensor_of(v)) return *known;
  Tensor t;
  t.graph = module_.value(v).graph;
  t.name = module_.value(v).name;
  t.type = module_.value(v).type;
  t.value = t.first_value = v;
  const TensorId id = add_tensor(std::move(t));
  const GraphId graph = module_.value(v).graph;
  if (!module_.value(v).producer.valid() && inputs_[graph.index()].size() == module_.value(v).index) inputs_[graph.index()].push_back(id);
  return id;
}

std::uint64_t Builder::stamp_of(TensorId t) const {
  const Tensor& tensor = tensors_[t];
  if (tensor.bases.empty()) return tensor.version;
  std::uint64_t sum = 0;
  for (TensorId base : tensor.bases) sum += stamp_of(base);
  return sum;
}

ValueId Builder::value_of(TensorId t) {
  if (tensors_[t].state.valid() && !tensors_[t].value.valid()) {
    reject(ErrorClass::value, "remote-variable-used", "'{}' lies in a remote buffer; load it first (ops.remote_load)", id_of(t));
  }
  if (tensors_[t].bases.empty()) return tensors_[t].value;
  const std::uint64_t stamp = stamp_of(t);
  if (stamp == tensors_[t].stamp && is_of_this_program(tensors_[t].value)) return tensors_[t].value;
  std::vector<ValueId> bases;
  for (TensorId base : std::vector<TensorId>(tensors_[t].bases)) bases.push_back(value_of(base));
  const Tensor& tensor = tensors_[t];
  ValueId value = bases[0];
  if (tensor.view.valid()) {
    const Attributes attributes = module_.attributes(module_.value(tensor.first_value).producer);
    value = module_.result(emit(tensor.graph, row_of(tensor.view).name, bases, attributes, {}, false, true, {}));
  }
  tensors_[t].value = value;
  tensors_[t].stamp = stamp;
  return value;
}

// A view that was taken again for an op of another context is made by another program.
bool Builder::is_of_this_program(ValueId v) const {
  const OpId producer = module_.value(v).producer;
  return !producer.valid() || !module_.op(producer).implicit || module_.op(producer).context == context_ ||
         module_.op(producer).graph != module_.main_graph();
}

std::vector<ValueId> Builder::put(const Tensor& alias, ValueId piece) {
  if (!alias.view.valid()) return {piece};
  const OpRow& row = row_of(alias.view);
  std::vector<ValueId> operands;
  const std::vector<TensorId> bases = alias.bases;
  const GraphId graph = alias.graph;
  const Attributes attributes = module_.attributes(module_.value(alias.first_value).producer);
  if (row.view == View::of_all_operands) operands.push_back(piece);
  for (TensorId base : bases) operands.push_back(value_of(base));
  if (row.view == View::of_first_operand) operands.push_back(piece);
  BuilderExpansion expansion(*this, graph, std::move(operands), attributes);
  row.put(expansion);
  PANDO_CHECK(expansion.results.size() == bases.size());
  return expansion.results;
}

void Builder::assign(TensorId t, ValueId v) {
  if (tensors_[t].bases.empty()) {
    Tensor& tensor = tensors_[t];
    tensor.value = v;
    ++tensor.version;
    const Value& first = module_.value(tensor.first_value);
    if (!first.producer.valid()) module_.graph(tensor.graph).updated_inputs[first.index] = v;
    return;
  }
  const std::vector<ValueId> contents = put(Tensor(tensors_[t]), v);
  const std::vector<TensorId> bases = tensors_[t].bases;
  for (std::size_t i = 0; i < bases.size(); ++i) assign(bases[i], contents[i]);
  tensors_[t].value = v;
  tensors_[t].stamp = stamp_of(t);
}

TensorId Builder::add_variable(State state, HostTensor data, std::string_view name) {
  const GraphId main = module_.main_graph();
  const std::string wanted = scoped(name.empty() ? "t" : name);
  Tensor t;
  t.graph = main;
  t.kind = TensorKind::variable;
  t.type = state.type;
  state.data = module_.add_blob(std::move(data));
  if (state.buffer.valid()) {
    t.name = module_.unique_name_id(main, wanted);
  } else {
    state.input = static_cast<std::uint32_t>(module_.graph(main).inputs.size());
    t.value = t.first_value = module_.add_input(main, Type(module_.type(state.type)), wanted);
    t.name = module_.value(t.value).name;
  }
  state.name = module_.text(t.name);
  t.state = module_.add_state(std::move(state));
  const bool on_chip = t.value.valid();
  const TensorId id = add_tensor(std::move(t));
  if (on_chip) inputs_[main.index()].push_back(id);
  return id;
}

TensorId Builder::add_constant(GraphId graph, HostTensor data, std::string_view name) {
  const BlobId blob = module_.add_blob(std::move(data));
  const OpId id = emit(graph, "constant", {}, {{"data", blob}}, {}, false, false, scoped(name.empty() ? "t" : name));
  Tensor t;
  t.graph = graph;
  t.kind = TensorKind::constant;
  t.value = t.first_value = module_.result(id);
  // Where a constant lies is decided by who uses it.
  Type type = module_.type_of(t.value);
  type.place = {};
  module_.set_type(t.value, type);
  t.name = module_.value(t.value).name;
  t.type = module_.value(t.value).type;
  return add_tensor(std::move(t));
}

Place Builder::place() const {
  Place p;
  p.device = Device::numbered(device_.value_or(0));
  p.tiles = io_tiles_ ? TileSet::io : TileSet::compute;
  return p;
}

void Builder::set_context(Context c) {
  context_ = c;
  module_.set_current_context(c);
}

OpId Builder::emit(GraphId graph, std::string_view name, std::span<const ValueId> operands, const Attributes& attributes,
                   std::span<const GraphId> graphs, bool in_place, bool implicit, std::string_view output_name) {
  OpId id;
  try {
    id = infer_and_add(module_, graph, name, operands, attributes, graphs, in_place, place(), output_name);
  } catch (const ModelError& e) {
    // The line that is asking for the op.
    if (!e.location().empty() || !module_.current_location().valid()) throw;
    const Location& at = module_.location(module_.current_location());
    if (at.file.empty()) throw;
    throw_model_error(e.kind(), e.id(), std::string(without_id(e.what())), text_of({at.file, at.line}));
  }
  module_.op(id).implicit = implicit;
  return id;
}

std::vector<TensorId> Builder::op(GraphId graph, std::string_view name, std::span<const TensorId> operands, const Attributes& attributes,
                                  std::span<const GraphId> graphs, bool in_place, std::string_view output_name) {
  const OpRow& row = row_of(op_kind(name));
  for (TensorId t : operands) {
    if (tensors_[t].graph != graph) {
      reject(ErrorClass::value, "tensor-of-another-graph", "{}: '{}' is a tensor of graph '{}', not of '{}'; pass it in as an input", name,
             id_of(t), module_.graph(tensors_[t].graph).name, module_.graph(graph).name);
    }
  }
  for (GraphId g : graphs) reject_cycle(module_, graph, g, name);
  std::vector<ValueId> values;
  for (TensorId t : operands) values.push_back(value_of(t));
  const std::string wanted = scoped(output_name.empty() ? std::string(name) + "_out" : std::string(output_name));
  const bool alias = in_place && row.view != View::none;
  const OpId id = emit(graph, name, values, attributes, graphs, in_place, false, wanted);
  last_op_ = id;
  order(graph, id);
  keep_operands(id, operands);

  const std::vector<NewVersion> versions = new_versions(module_, id);

  std::vector<TensorId> out;
  const std::vector<ValueId> results(module_.results(id).begin(), module_.results(id).end());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto m = std::find_if(versions.begin(), versions.end(), [&](const NewVersion& x) { return x.result == i; });
    Tensor t;
    t.graph = graph;
    t.name = module_.value(results[i]).name;
    t.type = module_.value(results[i]).type;
    t.value = t.first_value = results[i];
    if (m != versions.end()) {
      t.bases = {operands[m->operand]};
      assign(t.bases[0], results[i]);
    } else if (alias) {
      t.view = module_.op(id).kind;
      t.bases.assign(operands.begin(), row.view == View::of_first_operand ? operands.begin() + 1 : operands.end());
    }
    const TensorId tensor = add_tensor(std::move(t));
    tensors_[tensor].stamp = stamp_of(tensor);
    out.push_back(tensor);
  }
  if (graphs.size() == 1) {
    const std::vector<bool> by_ref = module_.graph(graphs[0]).by_ref;
    for (std::uint32_t i = 0; i < by_ref.size(); ++i) {
      if (by_ref[i]) set_modified(id, i);
    }
  }
  return out;
}

void Builder::keep_operands(OpId op, std::span<const TensorId> operands) {
  if (operand_pieces_.size() <= op.index()) operand_pieces_.resize(op.index() + 1);
  operand_pieces_[op.index()] = {static_cast<std::uint32_t>(operand_pool_.size()), static_cast<std::uint32_t>(operands.size())};
  operand_pool_.insert(operand_pool_.end(), operands.begin(), operands.end());
}

std::span<const TensorId> Builder::operand_tensors(OpId op) const {
  if (op.index() >= operand_pieces_.size()) return {};
  const auto [begin, count] = operand_pieces_[op.index()];
  return {operand_pool_.data() + begin, count};
}

void Builder::set_modified(OpId call, std::uint32_t input) {
  Attributes attributes = module_.attributes(call);
  Ints modified = attributes.ints("modified");
  if (std::find(modified.begin(), modified.end(), input) != modified.end()) return;
  PANDO_CHECK(input < operand_tensors(call).size());
  const TensorId parent = operand_tensors(call)[input];
  const ValueId old_value = module_.operand(call, input);
  check_no_stale_reads(call, parent, old_value);
  modified.push_back(input);
  attributes.set("modified", modified);
  module_.set_attributes(call, attributes);
  // Otherwise an op behind the call has modified it: that op reads what the call left.
  const bool latest = value_of(parent) == old_value;
  const ValueId v = module_.add_result(call, tensors_[parent].type, module_.op(call).result_count);
  Type type = module_.type_of(module_.operand(call, input));
  module_.set_type(v, type);
  if (latest) assign(parent, v);
  carry_forward(call, old_value, v);
}

void Builder::collect_roots(TensorId t, std::vector<TensorId>& roots) const {
  if (tensors_[t].bases.empty()) roots.push_back(t);
  for (TensorId base : tensors_[t].bases) collect_roots(base, roots);
}

// An op behind the call that reads the modified storage by another view than the call's has its value from before the call, and that view
// would have to be taken again.
void Builder::check_no_stale_reads(OpId call, TensorId parent, ValueId old_value) const {
  std::vector<TensorId> roots;
  collect_roots(parent, roots);
  const std::vector<OpId>& list = module_.graph(module_.op(call).graph).ops;
  const auto at = std::find(list.begin(), list.end(), call);
  const auto made_before = [&](ValueId v) {
    const OpId producer = module_.value(v).producer;
    return !producer.valid() || std::find(list.begin(), at, producer) != at;
  };
  for (auto it = at + 1; it != list.end(); ++it) {
    const auto operands = operand_tensors(*it);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const ValueId v = module_.operand(*it, i);
      if (v == old_value || !(made_before(v) || !tensors_[parent].bases.empty())) continue;
      std::vector<TensorId> others;
      collect_roots(operands[i], others);
      if (std::find_first_of(roots.begin(), roots.end(), others.begin(), others.end()) == roots.end()) continue;
      reject(ErrorClass::value, "modified-too-late",
             "'{}' is said to be modified by '{}' only after '{}' has read it as '{}'; say so right behind the call", id_of(parent),
             module_.name_of(call), module_.name_of(*it), id_of(operands[i]));
    }
  }
}

// Ops added between the call and the word that it modifies its operand read what the call left.
void Builder::carry_forward(OpId call, ValueId old_value, ValueId new_value) {
  const std::vector<OpId>& list = module_.graph(module_.op(call).graph).ops;
  for (auto it = std::find(list.begin(), list.end(), call) + 1; it != list.end(); ++it) {
    for (std::uint32_t i = 0; i < module_.op(*it).operand_count; ++i) {
      if (module_.operand(*it, i) == old_value) module_.set_operand(*it, i, new_value);
    }
  }
}

std::vector<OpId> Builder::carriers_of(GraphId graph) const {
  std::vector<OpId> ops;
  for (std::size_t g = 0; g < module_.graph_count(); ++g) {
    for (OpId o : module_.graph(GraphId(static_cast<GraphId::rep>(g))).ops) {
      if (module_.op(o).graph_count == 0) continue;
      const auto graphs = module_.graphs(o);
      if (std::find(graphs.begin(), graphs.end(), graph) != graphs.end()) ops.push_back(o);
    }
  }
  return ops;
}

bool Builder::can_add_outputs(GraphId graph) const {
  const std::vector<OpId> ops = carriers_of(graph);
  return std::all_of(ops.begin(), ops.end(), [&](OpId o) { return module_.row(o).control == Control::call; });
}

void Builder::add_outputs_to_called(GraphId graph, std::span<const ValueId> values) {
  if (values.empty()) return;
  const std::uint32_t position = static_cast<std::uint32_t>(module_.graph(graph).outputs.size());
  const std::vector<OpId> calls = carriers_of(graph);
  for (OpId o : calls) {
    if (module_.row(o).control == Control::call) continue;
    reject(ErrorClass::popart, "cannot-add-output", "graph '{}' is carried by {} '{}', whose results cannot grow",
           module_.graph(graph).name, module_.row(o).name, module_.name_of(o));
  }
  std::vector<TypeId> types;
  for (ValueId v : values) {
    outputs_[graph.index()].push_back(tensor_for(v));
    module_.add_output(graph, v);
    types.push_back(module_.value(v).type);
  }
  for (OpId call : calls) {
    const ValueId first = module_.add_results(call, types, position);
    for (std::uint32_t i = 0; i < types.size(); ++i) tensor_for(ValueId(first.value + i));
  }
}

void Builder::finish() {
  for (std::size_t g = 0; g < outputs_.size(); ++g) {
    const GraphId graph(static_cast<GraphId::rep>(g));
    for (std::size_t i = 0; i < outputs_[g].size(); ++i) module_.graph(graph).outputs[i] = value_of(outputs_[g][i]);
  }
}

}  // namespace pando::ir
