#include "split/part_builder.h"

#include "base/check.h"
#include "ir/op_row.h"
#include "ir/semantics/infer.h"
#include "transform/distribute/module_copy.h"

namespace pando::split {

using namespace ir;

PartBuilder::PartBuilder(const Module& from, std::int32_t device) : from_(from), uses_buffer_(from.buffer_count()) {
  part_.device = device;
  transform::copy_tables(from, part_.module);
  part_.module.add_graph(from.graph(from.main_graph()).name);
}

ValueId PartBuilder::value(ValueId from) const {
  const auto it = values_.find(from);
  PANDO_CHECK(it != values_.end());
  return it->second;
}

TypeId PartBuilder::type(TypeId from) {
  return transform::copy_type(from_, from, part_.module, [](Device d) { return d.known() && !d.is_variable() ? Device::numbered(0) : d; });
}

ValueId PartBuilder::add_variable(const std::string& name, const Type& type, HostTensor data) {
  Module& m = part_.module;
  const ValueId v = m.add_input(m.main_graph(), type, name);
  State s;
  s.name = name;
  s.type = m.type(type);
  if (!data.empty_handle()) s.data = m.add_blob(std::move(data));
  s.grouping = ReplicaGrouping(1);
  s.input = static_cast<std::uint32_t>(m.graph(m.main_graph()).inputs.size() - 1);
  m.add_state(std::move(s));
  return v;
}

void PartBuilder::copy_variable(StateId id) {
  State s = from_.state(id);
  const Graph& main = from_.graph(from_.main_graph());
  const ValueId old = main.inputs[*s.input];
  Module& m = part_.module;
  s.type = type(from_.value(old).type);
  map(old, m.add_input(m.main_graph(), Type(m.type(s.type)), from_.name_of(old)));
  s.input = static_cast<std::uint32_t>(m.graph(m.main_graph()).inputs.size() - 1);
  m.add_state(std::move(s));
}

void PartBuilder::copy_remote(StateId id) {
  State s = from_.state(id);
  s.type = type(s.type);
  part_.module.add_state(std::move(s));
}

OpId PartBuilder::copy(OpId op, GraphId to, std::span<const ValueId> operands) {
  std::vector<GraphId> graphs;
  for (GraphId g : from_.graphs(op)) graphs.push_back(graph(g));
  std::vector<TypeId> types;
  for (ValueId v : from_.results(op)) types.push_back(type(from_.value(v).type));
  for (const auto& [name, value] : from_.attributes(op).items()) {
    if (const auto* buffer = std::get_if<BufferId>(&value)) uses_buffer_[buffer->index()] = true;
  }
  return transform::copy_op(from_, op, part_.module, to, operands, graphs, types);
}

OpId PartBuilder::copy(OpId op) {
  std::vector<ValueId> operands;
  for (ValueId v : from_.operands(op)) operands.push_back(value(v));
  const OpId copied = copy(op, part_.module.main_graph(), operands);
  for (std::size_t i = 0; i < from_.results(op).size(); ++i) map(from_.result(op, i), part_.module.result(copied, i));
  return copied;
}

// Operands of the graph's ops are values of the same graph: they are in the common table.
GraphId PartBuilder::graph(GraphId from) {
  if (const auto it = graphs_.find(from); it != graphs_.end()) return it->second;
  Module& m = part_.module;
  const Graph& old = from_.graph(from);
  const GraphId g = graphs_[from] = m.add_graph(old.name);
  for (std::size_t i = 0; i < old.inputs.size(); ++i) {
    const ValueId v = old.inputs[i];
    map(v, m.add_input(g, Type(m.type(type(from_.value(v).type))), from_.name_of(v), old.by_ref[i]));
  }
  std::unordered_map<OpId, OpId> ops;
  for (OpId o : old.ops) {
    std::vector<ValueId> operands;
    for (ValueId v : from_.operands(o)) operands.push_back(value(v));
    const OpId c = ops[o] = copy(o, g, operands);
    for (std::size_t i = 0; i < from_.results(o).size(); ++i) map(from_.result(o, i), m.result(c, i));
  }
  for (ValueId v : old.outputs) m.add_output(g, value(v));
  Graph& fresh = m.graph(g);
  for (std::size_t i = 0; i < old.updated_inputs.size(); ++i) fresh.updated_inputs[i] = value(old.updated_inputs[i]);
  for (const auto& [first, then] : old.after) fresh.after.emplace_back(ops.at(first), ops.at(then));
  fresh.note = old.note;
  return g;
}

HostStreamId PartBuilder::add_stream(const std::string& name, TypeId type, bool to_device) {
  const Type& t = part_.module.type(type);
  return part_.module.add_stream(
      {name, to_device ? HostStream::Direction::host_to_device : HostStream::Direction::device_to_host, t.dtype, t.shape});
}

void PartBuilder::store(GraphId graph, HostStreamId stream, ValueId value) {
  infer_and_add(part_.module, graph, "host_store", {{value}}, {{"stream", stream}});
}

ValueId PartBuilder::load(GraphId graph, HostStreamId stream, const std::string& name) {
  const Place place{Device::numbered(0), TileSet::compute, Memory::tile};
  return part_.module.result(infer_and_add(part_.module, graph, "host_load", {}, {{"stream", stream}}, {}, false, place, name));
}

void PartBuilder::add_slots(const exec::Channel& c) {
  if (c.capacity <= 0 || c.bytes == 0) return;
  const Type type =
      tensor_type(DType::uint8, {c.capacity, static_cast<std::int64_t>(c.bytes)}, {Device::numbered(0), TileSet::compute, Memory::tile});
  add_variable(slots_name(c.name), type, HostTensor(DType::uint8, type.shape));
}

}  // namespace pando::split
