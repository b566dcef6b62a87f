#include "ir/module.h"

#include "base/check.h"
#include "ir/op_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::ir {

GraphId Module::add_graph(std::string name) {
  Graph g;
  g.name = std::move(name);
  used_names_.emplace_back();
  return graphs_.push(std::move(g));
}

ValueId Module::add_input(GraphId graph, const Type& type, std::string_view name, bool by_ref) {
  Value v;
  v.type = types_.intern(type);
  v.graph = graph;
  v.index = static_cast<std::uint32_t>(graphs_[graph].inputs.size());
  v.name = unique_name_id(graph, name.empty() ? "t" : name);
  const ValueId id = values_.push(v);
  Graph& g = graphs_[graph];
  g.inputs.push_back(id);
  g.updated_inputs.push_back(id);
  g.by_ref.push_back(by_ref);
  return id;
}

void Module::add_output(GraphId graph, ValueId value) { graphs_[graph].outputs.push_back(value); }

OpId Module::add_op(GraphId graph, OpKind kind, std::span<const ValueId> operands, const Attributes& attributes,
                    std::span<const GraphId> graphs, std::span<const TypeId> results, std::string_view name) {
  Op op;
  op.kind = kind;
  op.context = current_context_;
  op.graph = graph;
  op.location = current_location_;
  op.attributes = attributes_.intern(attributes);
  op.operand_begin = static_cast<std::uint32_t>(operand_pool_.size());
  op.operand_count = static_cast<std::uint32_t>(operands.size());
  operand_pool_.insert(operand_pool_.end(), operands.begin(), operands.end());
  op.graph_begin = static_cast<std::uint32_t>(graph_pool_.size());
  op.graph_count = static_cast<std::uint32_t>(graphs.size());
  graph_pool_.insert(graph_pool_.end(), graphs.begin(), graphs.end());
  op.result_begin = static_cast<std::uint32_t>(result_pool_.size());
  op.result_count = static_cast<std::uint32_t>(results.size());
  const std::string wanted = name.empty() ? fmt::format("{}_out", row_of(kind).name) : std::string(name);
  op.name = this->name(wanted);
  const OpId id = ops_.push(op);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Value v;
    v.type = results[i];
    v.producer = id;
    v.index = static_cast<std::uint32_t>(i);
    v.graph = graph;
    v.name = unique_name_id(graph, wanted);
    result_pool_.push_back(values_.push(v));
  }
  graphs_[graph].ops.push_back(id);
  return id;
}

OpId Module::append_op(GraphId graph, OpKind kind, std::span<const ValueId> operands, AttributesId attributes,
                       std::span<const TypeId> results, NameId name) {
  Op op;
  op.kind = kind;
  op.context = current_context_;
  op.graph = graph;
  op.location = current_location_;
  op.attributes = attributes;
  op.name = name;
  op.operand_begin = static_cast<std::uint32_t>(operand_pool_.size());
  op.operand_count = static_cast<std::uint32_t>(operands.size());
  operand_pool_.insert(operand_pool_.end(), operands.begin(), operands.end());
  op.graph_begin = static_cast<std::uint32_t>(graph_pool_.size());
  op.result_begin = static_cast<std::uint32_t>(result_pool_.size());
  op.result_count = static_cast<std::uint32_t>(results.size());
  const OpId id = ops_.push(op);
  for (std::size_t i = 0; i < results.size(); ++i) {
    result_pool_.push_back(values_.push({results[i], id, static_cast<std::uint32_t>(i), name, graph}));
  }
  graphs_[graph].ops.push_back(id);
  return id;
}

void Module::reserve(std::size_t ops, std::size_t operands, std::size_t results) {
  ops_.raw().reserve(ops_.size() + ops);
  operand_pool_.reserve(operand_pool_.size() + operands);
  result_pool_.reserve(result_pool_.size() + results);
  values_.raw().reserve(values_.size() + results);
}

ValueId Module::add_result(OpId op, TypeId type, std::uint32_t position, std::string_view wanted) {
  return add_results(op, {&type, 1}, position, wanted);
}

ValueId Module::add_results(OpId op, std::span<const TypeId> types, std::uint32_t position, std::string_view wanted) {
  PANDO_CHECK(position <= ops_[op].result_count);
  const std::string base(wanted.empty() ? std::string_view(text(ops_[op].name)) : wanted);
  std::vector<ValueId> added;
  for (TypeId type : types) {
    Value v;
    v.type = type;
    v.producer = op;
    v.graph = ops_[op].graph;
    v.name = unique_name_id(v.graph, base);
    added.push_back(values_.push(v));
  }
  std::vector<ValueId> all(results(op).begin(), results(op).end());
  all.insert(all.begin() + position, added.begin(), added.end());
  ops_[op].result_begin = static_cast<std::uint32_t>(result_pool_.size());
  ops_[op].result_count = static_cast<std::uint32_t>(all.size());
  result_pool_.insert(result_pool_.end(), all.begin(), all.end());
  for (std::size_t i = position; i < all.size(); ++i) values_[all[i]].index = static_cast<std::uint32_t>(i);
  return added.empty() ? ValueId() : added.front();
}

void Module::set_operand(OpId op, std::uint32_t index, ValueId value) {
  PANDO_CHECK(index < ops_[op].operand_count);
  operand_pool_[ops_[op].operand_begin + index] = value;
}

void Module::append_operand(OpId op, ValueId value) {
  const std::vector<ValueId> all(operands(op).begin(), operands(op).end());
  ops_[op].operand_begin = static_cast<std::uint32_t>(operand_pool_.size());
  ++ops_[op].operand_count;
  operand_pool_.insert(operand_pool_.end(), all.begin(), all.end());
  operand_pool_.push_back(value);
}

void Module::erase(OpId op) {
  std::vector<OpId>& list = graphs_[ops_[op].graph].ops;
  list.erase(std::remove(list.begin(), list.end(), op), list.end());
  ops_[op].erased = true;
  std::erase_if(graphs_[ops_[op].graph].after, [op](const auto& edge) { return edge.first == op || edge.second == op; });
}

std::optional<GraphId> Module::graph_named(std::string_view name) const {
  for (std::size_t i = 0; i < graphs_.size(); ++i) {
    const GraphId id(static_cast<GraphId::rep>(i));
    if (graphs_[id].name == name) return id;
  }
  return std::nullopt;
}

const OpRow& Module::row(OpId o) const { return row_of(ops_[o].kind); }

NameId Module::name(std::string_view text) {
  auto [it, added] = name_ids_.try_emplace(std::string(text));
  if (added) {
    it->second = NameId(static_cast<NameId::rep>(names_.size()));
    names_.push_back(it->first);
  }
  return it->second;
}

std::optional<NameId> Module::find_name(std::string_view text) const {
  const auto it = name_ids_.find(std::string(text));
  return it == name_ids_.end() ? std::nullopt : std::optional<NameId>(it->second);
}

std::string Module::unique_name(GraphId graph, std::string_view wanted) { return names_[unique_name_id(graph, wanted).index()]; }

NameId Module::unique_name_id(GraphId graph, std::string_view wanted) {
  auto& used = used_names_[graph.index()];
  const NameId id = name(wanted);
  auto [it, added] = used.try_emplace(id, 0u);
  if (added) return id;
  // References into the map survive insertions, iterators may not.
  std::uint32_t& next = it->second;
  for (;;) {
    const NameId candidate = name(fmt::format("{}__t{}", wanted, next++));
    if (used.try_emplace(candidate, 0u).second) return candidate;
  }
}

LocationId Module::location(const Location& l) {
  auto [it, added] = location_ids_.try_emplace(fmt::format("{}:{}:{}", l.file, l.line, l.function));
  if (added) it->second = locations_.push(l);
  return it->second;
}

std::string Module::location_text(OpId o) const {
  const LocationId l = ops_[o].location;
  if (!l.valid()) return {};
  return fmt::format("{}:{}", locations_[l].file, locations_[l].line);
}

BlobId Module::add_blob(HostTensor data) { return blobs_.push(std::move(data)); }
HostStreamId Module::add_stream(HostStream s) { return streams_.push(std::move(s)); }
BufferId Module::add_buffer(RemoteBuffer b) { return buffers_.push(std::move(b)); }
StateId Module::add_state(State s) { return states_.push(std::move(s)); }

}  // namespace pando::ir
