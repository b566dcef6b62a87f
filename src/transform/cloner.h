// Copies ops of one graph into another, those that a value needs.
#pragma once

#include "ir/module.h"

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace pando::transform {

class Cloner {
 public:
  // What a value of `from` is in `to` without copying its op; nothing: copy it. Asked once for each value.
  using Leaf = std::function<std::optional<ir::ValueId>(ir::ValueId)>;

  Cloner(ir::Module& module, ir::GraphId to, Leaf leaf) : module_(module), to_(to), leaf_(std::move(leaf)) {}

  // The value in `to`. Copies what it needs. Rejects (popart) to copy ops with effects: they would happen twice. A print is left out.
  ir::ValueId value(ir::ValueId v);
  // Copies one op, whose operands must have their values in `to` already or get them.
  void copy(ir::OpId op);
  void map(ir::ValueId from, ir::ValueId to) { here_[from] = to; }
  bool knows(ir::ValueId v) const { return here_.contains(v); }

 private:
  bool resolve(ir::ValueId v);

  ir::Module& module_;
  ir::GraphId to_;
  Leaf leaf_;
  std::unordered_map<ir::ValueId, ir::ValueId> here_;
  std::unordered_map<ir::OpId, ir::OpId> copies_;
};

// "G_bwd", or "G_bwd_1" ... where it is taken.
std::string unique_graph_name(const ir::Module& module, const std::string& wanted);

// Whether a graph, or one that it carries, reads or writes streams or remote buffers.
bool has_outside_effects(const ir::Module& module, ir::GraphId graph);

}  // namespace pando::transform
