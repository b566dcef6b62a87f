#include "ir/semantics/order_rules.h"

#include "ir/op_row.h"
#include "ir/rows/evaluation.h"

#include <algorithm>
#include <optional>

namespace pando::ir {

namespace {

constexpr Effects kOutside = Effects::stream | Effects::remote | Effects::print;

bool has_any(Effects set, Effects of) { return (static_cast<unsigned>(set) & static_cast<unsigned>(of)) != 0; }

}  // namespace

Storages::Storages(const Module& module, GraphId graph) : module_(module) {
  const Graph& g = module.graph(graph);
  for (ValueId v : g.inputs) add(v);
  std::vector<std::pair<OpId, ValueId>> modifications;
  for (OpId o : g.ops) {
    for (ValueId v : module.results(o)) add(v);
    const View view = module.row(o).view;
    const std::size_t viewed = view == View::none ? 0 : view == View::of_first_operand ? 1 : module.operands(o).size();
    for (std::size_t i = 0; i < viewed; ++i) {
      for (ValueId v : module.results(o)) {
        unite(v, module.operand(o, i));
        made_[index_.at(v)] = false;
      }
    }
    for (const NewVersion& n : new_versions(module, o)) {
      unite(module.result(o, n.result), module.operand(o, n.operand));
      made_[index_.at(module.result(o, n.result))] = false;
    }
    // A view's new contents are put into its base.
    if (module.op(o).implicit && view == View::none && !module.operands(o).empty()) {
      unite(module.result(o), module.operand(o, 0));
      made_[index_.at(module.result(o))] = false;
    }
  }
  modified_.resize(parent_.size());
  for (OpId o : g.ops) {
    for (ValueId v : modified_by(o)) modified_[of(v)] = true;
  }
}

std::uint32_t Storages::add(ValueId v) {
  const auto i = static_cast<std::uint32_t>(parent_.size());
  index_.emplace(v, i);
  parent_.push_back(i);
  made_.push_back(true);
  return i;
}

std::uint32_t Storages::find(std::uint32_t i) const {
  while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
  return i;
}

std::uint32_t Storages::of(ValueId v) const { return find(index_.at(v)); }

std::vector<ValueId> Storages::modified_by(OpId op) const {
  std::vector<ValueId> all;
  for (const NewVersion& n : new_versions(module_, op)) all.push_back(module_.operand(op, n.operand));
  if (module_.op(op).implicit && module_.row(op).view == View::none && !module_.operands(op).empty()) all.push_back(module_.operand(op, 0));
  return all;
}

OrderRules::OrderRules(const Module& module) : module_(module), seen_outside_(module.graph_count()), sites_(module.graph_count()) {
  for (std::size_t i = 0; i < module.graph_count(); ++i) {
    for (OpId o : module.graph(GraphId(static_cast<GraphId::rep>(i))).ops) {
      const bool loads = has(module.row(o).effects, Effects::code);
      loads_code_ = loads_code_ || loads;
      for (GraphId g : module.graphs(o)) sites_[g] += loads ? 0 : 1;
    }
  }
  // Callees are mostly made before callers, but not always: until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < module.graph_count(); ++i) {
      const GraphId g(static_cast<GraphId::rep>(i));
      const auto& ops = module.graph(g).ops;
      if (seen_outside_[g] || std::none_of(ops.begin(), ops.end(), [&](OpId o) { return is_seen_outside(o); })) continue;
      seen_outside_[g] = 1;
      changed = true;
    }
  }
}

bool OrderRules::is_seen_outside(OpId op) const {
  if (has_any(module_.row(op).effects, kOutside)) return true;
  const auto graphs = module_.graphs(op);
  return std::any_of(graphs.begin(), graphs.end(), [&](GraphId g) { return seen_outside_[g] != 0; });
}

namespace {

// Something that some ops change and others read: what reads it before a change goes on doing so. Behind a change stands who needs what it
// made, by data.
class Shared {
 public:
  void read(std::uint32_t by) { readers_.push_back(by); }
  template <class Edge>
  void change(std::uint32_t by, Edge edge) {
    if (change_) edge(*change_, by);
    for (std::uint32_t r : readers_) edge(r, by);
    readers_.clear();
    change_ = by;
  }

 private:
  std::optional<std::uint32_t> change_;
  std::vector<std::uint32_t> readers_;
};

}  // namespace

Precedence OrderRules::of(GraphId id, const Storages& storages) const {
  const Graph& graph = module_.graph(id);
  const auto count = static_cast<std::uint32_t>(graph.ops.size());
  Precedence p{std::vector<std::vector<std::uint32_t>>(count), std::vector<std::uint32_t>(count)};
  std::unordered_map<OpId, std::uint32_t> position;
  for (std::uint32_t i = 0; i < count; ++i) position.emplace(graph.ops[i], i);
  const auto edge = [&](std::uint32_t first, std::uint32_t then) {
    if (first != then) p.next[first].push_back(then);
  };
  for (const auto& [first, then] : graph.after) edge(position.at(first), position.at(then));
  Shared outside, code;
  std::unordered_map<std::uint32_t, Shared> contents;
  // What a graph leaves when it has run, and in which storages that lies.
  std::unordered_map<GraphId, Shared> left;
  std::unordered_map<std::uint32_t, GraphId> leaver;
  for (std::uint32_t i = 0; i < count; ++i) {
    const OpId o = graph.ops[i];
    const bool loads = has(module_.row(o).effects, Effects::code);
    const auto graphs = module_.graphs(o);
    std::vector<std::uint32_t> modified;
    for (ValueId v : storages.modified_by(o)) modified.push_back(storages.of(v));
    for (ValueId v : module_.operands(o)) {
      const OpId producer = module_.value(v).producer;
      if (producer.valid()) edge(position.at(producer), i);
      const std::uint32_t s = storages.of(v);
      if (storages.is_modified(s) && std::find(modified.begin(), modified.end(), s) == modified.end()) contents[s].read(i);
      if (const auto it = leaver.find(s); it != leaver.end()) left[it->second].read(i);
    }
    for (std::uint32_t s : modified) contents[s].change(i, edge);
    for (GraphId g : graphs) {
      if (loads || sites_[g] < 2) continue;
      left[g].change(i, edge);
      for (ValueId v : module_.results(o)) leaver[storages.of(v)] = g;
    }
    if (is_seen_outside(o)) outside.change(i, edge);
    if (loads_code_ && (loads || !graphs.empty())) code.change(i, edge);
  }
  for (auto& next : p.next) {
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    for (std::uint32_t n : next) ++p.waits[n];
  }
  return p;
}

}  // namespace pando::ir
