// What must come before what, whoever puts the ops of a graph into another order.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace pando::ir {

// Values of one graph that share memory: views with what they view, new versions with old ones.
class Storages {
 public:
  Storages(const Module& module, GraphId graph);
  // Two values of the graph have the same number if they share memory.
  std::uint32_t of(ValueId v) const;
  std::size_t size() const { return parent_.size(); }
  // Whether some op makes a new version of what lies there.
  bool is_modified(std::uint32_t storage) const { return modified_[storage]; }
  // Whether the op gives the value memory of its own: no view, no new version.
  bool is_made(ValueId v) const { return made_[index_.at(v)]; }
  // The operands that an op makes new versions of.
  std::vector<ValueId> modified_by(OpId op) const;

 private:
  std::uint32_t add(ValueId v);
  std::uint32_t find(std::uint32_t i) const;
  void unite(ValueId a, ValueId b) { parent_[find(index_.at(a))] = find(index_.at(b)); }

  const Module& module_;
  std::unordered_map<ValueId, std::uint32_t> index_;
  mutable std::vector<std::uint32_t> parent_;
  std::vector<bool> made_, modified_;
};

// By position in the graph's list of ops.
struct Precedence {
  // What comes behind, each once, ascending.
  std::vector<std::vector<std::uint32_t>> next;
  // How many come before.
  std::vector<std::uint32_t> waits;
};

// What makes an operand comes before who reads it, and what the user demanded to come first (Graph::after) does. These stay as the list has
// them:
//   ops that somebody outside sees (streams, remote buffers, prints), and those that carry graphs with such ops;
//   loads of code and ops that carry graphs, where the module loads code;
//   readers of a tensor and ops that modify it or a view of it: an update in place needs no copy then;
//   readers of a call's results and the next op that carries the same graph, which leaves its results in the same place.
class OrderRules {
 public:
  explicit OrderRules(const Module& module);
  Precedence of(GraphId graph) const { return of(graph, Storages(module_, graph)); }
  Precedence of(GraphId graph, const Storages& storages) const;

 private:
  bool is_seen_outside(OpId op) const;

  const Module& module_;
  DenseMap<GraphId, char> seen_outside_;
  // How many ops carry a graph.
  DenseMap<GraphId, std::uint32_t> sites_;
  bool loads_code_ = false;
};

}  // namespace pando::ir
