#include "transform/cloner.h"

#include "base/check.h"
#include "ir/error.h"
#include "ir/op_row.h"

#include <algorithm>

namespace pando::transform {

using namespace ir;

namespace {

constexpr Effects kOutside = Effects::stream | Effects::remote | Effects::code;

bool touches_outside(const Module& m, OpId op) {
  if (has(m.row(op).effects, kOutside)) return true;
  const auto graphs = m.graphs(op);
  return std::any_of(graphs.begin(), graphs.end(), [&](GraphId g) { return has_outside_effects(m, g); });
}

}  // namespace

bool has_outside_effects(const Module& m, GraphId graph) {
  const auto& ops = m.graph(graph).ops;
  return std::any_of(ops.begin(), ops.end(), [&](OpId o) { return touches_outside(m, o); });
}

std::string unique_graph_name(const Module& m, const std::string& wanted) {
  if (!m.graph_named(wanted)) return wanted;
  for (int n = 1;; ++n) {
    std::string name = fmt::format("{}_{}", wanted, n);
    if (!m.graph_named(name)) return name;
  }
}

// Whether the value is known without a copy.
bool Cloner::resolve(ValueId v) {
  if (here_.contains(v)) return true;
  // A call that got further results since it was copied: its copy got them too.
  if (const auto copy = copies_.find(module_.value(v).producer); copy != copies_.end()) {
    here_[v] = module_.result(copy->second, module_.value(v).index);
    return true;
  }
  if (const auto leaf = leaf_(v)) {
    here_[v] = *leaf;
    return true;
  }
  return false;
}

// Depth first with a stack of its own: chains are as long as graphs.
ValueId Cloner::value(ValueId wanted) {
  if (resolve(wanted)) return here_[wanted];
  std::vector<std::pair<OpId, std::uint32_t>> stack{{module_.value(wanted).producer, 0}};
  while (!stack.empty()) {
    auto& [op, next] = stack.back();
    PANDO_CHECK(op.valid());
    if (next < module_.op(op).operand_count) {
      const ValueId v = module_.operand(op, next++);
      if (!resolve(v)) stack.push_back({module_.value(v).producer, 0});
      continue;
    }
    const OpId done = op;
    stack.pop_back();
    if (!copies_.contains(done)) copy(done);
  }
  return here_[wanted];
}

void Cloner::copy(OpId op) {
  const OpRow& row = module_.row(op);
  if (row.effects == Effects::print && !module_.results(op).empty()) {
    const ValueId printed = value(module_.operand(op, 0));
    here_[module_.result(op, 0)] = printed;
    return;
  }
  if (touches_outside(module_, op)) {
    throw_model_error(
        ErrorClass::popart, "cannot-recompute",
        fmt::format("'{}' of graph '{}' must be computed again, but {} has effects outside; take its result in as an input of the graph",
                    module_.name_of(op), module_.graph(module_.op(op).graph).name, row.name),
        module_.location_text(op));
  }
  std::vector<ValueId> operands;
  for (std::uint32_t i = 0; i < module_.op(op).operand_count; ++i) operands.push_back(value(module_.operand(op, i)));
  const std::vector<GraphId> graphs(module_.graphs(op).begin(), module_.graphs(op).end());
  std::vector<TypeId> types;
  for (ValueId v : module_.results(op)) types.push_back(module_.value(v).type);
  const LocationId location = module_.current_location();
  module_.set_current_location(module_.op(op).location);
  const std::string name = module_.name_of(op);
  const OpId copied = module_.add_op(to_, module_.op(op).kind, operands, module_.attributes(op), graphs, types, name);
  module_.set_current_location(location);
  for (std::size_t i = 0; i < types.size(); ++i) here_.try_emplace(module_.result(op, i), module_.result(copied, i));
  copies_[op] = copied;
}

}  // namespace pando::transform
