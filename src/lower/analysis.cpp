#include "lower/analysis.h"

#include "ir/op_row.h"
#include "lower/row.h"

#include <algorithm>

namespace pando::lower {

using ir::Context;
using ir::GraphId;
using ir::OpId;
using ir::ValueId;

namespace {

// More operands make a vertex with more edges than a pass over memory saves.
constexpr std::uint32_t kMaxLeaves = 8;
// Ops of one expression, one behind the other. popops walks expressions by recursion and rejects those that nest too deep; a pass puts some
// of these into each other. What has computed so much for an element does not wait for memory.
constexpr std::uint32_t kMaxFused = 16;

GraphId graph_id(std::size_t i) { return GraphId(static_cast<GraphId::rep>(i)); }

// Inside an expression halfs are computed as floats: not for who compares them, or cuts off what is behind the point.
bool wants_rounded(const ir::Module& m, OpId reader) {
  return find_row(m.row(reader).name)->steps || !ir::is_floating(m.type_of(m.result(reader)).dtype);
}

bool is_scalar_constant(const ir::Module& m, ValueId v) {
  const OpId producer = m.value(v).producer;
  return producer.valid() && m.row(producer).constant && ir::elements_of(m.type_of(v).shape) == 1;
}

}  // namespace

Analysis::Analysis(const ir::Module& module, bool fuse)
    : module_(module),
      fuse_(fuse),
      kept_(ir::kept_values(module)),
      uses_(module.value_count()),
      users_(module.value_count()),
      sites_(module.graph_count()),
      first_call_(module.graph_count()),
      code_loaded_(module.graph_count()),
      effects_(module.graph_count()) {
  for (std::size_t g = 0; g < module.graph_count(); ++g) {
    for (OpId o : module.graph(graph_id(g)).ops) {
      const auto operands = module.operands(o);
      for (std::uint32_t i = 0; i < operands.size(); ++i) users_[operands[i]].emplace_back(o, i);
      const bool loads_code = ir::has(module.row(o).effects, ir::Effects::code);
      for (GraphId callee : module.graphs(o)) {
        if (loads_code) {
          code_loaded_[callee] = 1;
        } else {
          ++sites_[callee];
          if (!first_call_[callee].valid() && module.row(o).control == ir::Control::call) first_call_[callee] = o;
        }
      }
    }
  }
  // Callees are mostly made before callers, but not always: until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t g = 0; g < module.graph_count(); ++g) {
      if (effects_[graph_id(g)]) continue;
      for (OpId o : module.graph(graph_id(g)).ops) {
        if (!has_effects(o)) continue;
        changed = true;
        effects_[graph_id(g)] = 1;
        break;
      }
    }
  }
}

bool Analysis::has_effects(OpId op) const {
  const ir::OpRow& row = module_.row(op);
  if (row.effects != ir::Effects::none && row.effects != ir::Effects::replicas) return true;
  const auto graphs = module_.graphs(op);
  return std::any_of(graphs.begin(), graphs.end(), [&](GraphId g) { return effects_[g] != 0; });
}

GraphPlan Analysis::plan(GraphId id, Context context) {
  const ir::Graph& graph = module_.graph(id);
  const bool main = id == module_.main_graph();
  const auto reads = [&](ValueId v) -> std::uint32_t& { return uses_[main ? resolved(v, context) : v]; };
  for (ValueId v : graph.inputs) uses_[v] = 0;
  for (OpId o : graph.ops) {
    for (ValueId v : module_.results(o)) uses_[v] = 0;
  }
  for (ValueId v : graph.outputs) ++reads(v);
  for (ValueId v : graph.updated_inputs) ++reads(v);
  if (main) {
    for (const ir::KeptValue& k : kept_) ++reads(k.last);
  }
  GraphPlan plan;
  for (auto it = graph.ops.rbegin(); it != graph.ops.rend(); ++it) {
    if (!ir::runs_in(module_, *it, context)) continue;
    const auto results = module_.results(*it);
    const bool read = std::any_of(results.begin(), results.end(), [&](ValueId v) { return uses_[v] > 0; });
    if (!read && !has_effects(*it)) continue;
    for (ValueId v : module_.operands(*it)) ++reads(v);
    plan.ops.push_back(*it);
  }
  std::reverse(plan.ops.begin(), plan.ops.end());
  if (fuse_) fuse(plan);
  return plan;
}

// An op becomes a part of the one that reads it if nobody else does, both are element-wise, of one shape, and lie in one place.
std::optional<OpId> Analysis::fusible_reader(OpId op, const std::unordered_map<std::uint32_t, std::uint32_t>& leaves,
                                             const GraphPlan&) const {
  if (module_.results(op).size() != 1) return std::nullopt;
  const ValueId v = module_.result(op);
  if (uses_[v] != 1) return std::nullopt;
  for (const auto& [reader, index] : users_[v]) {
    const auto at = leaves.find(reader.value);
    if (at == leaves.end()) continue;
    const ir::Type &mine = module_.type_of(v), &theirs = module_.type_of(module_.result(reader));
    if (mine.shape != theirs.shape || !(mine.place == theirs.place)) return std::nullopt;
    if (mine.dtype == ir::DType::float16 && wants_rounded(module_, reader)) return std::nullopt;
    return reader;
  }
  return std::nullopt;
}

void Analysis::fuse(GraphPlan& plan) {
  // Of each element-wise op: how many tensors it reads, with what is fused into it, and how deep that is.
  std::unordered_map<std::uint32_t, std::uint32_t> leaves, depths;
  for (OpId o : plan.ops) {
    const Row* row = find_row(module_.row(o).name);
    if (row == nullptr || row->expression == nullptr) continue;
    std::uint32_t n = 0;
    for (ValueId v : module_.operands(o)) n += is_scalar_constant(module_, v) ? 0 : 1;
    leaves[o.value] = n;
  }
  for (OpId o : plan.ops) {
    if (!leaves.contains(o.value)) continue;
    const auto reader = fusible_reader(o, leaves, plan);
    if (!reader) continue;
    const std::uint32_t together = leaves[reader->value] + leaves[o.value] - 1;
    const std::uint32_t depth = std::max(depths[reader->value], depths[o.value] + 1);
    if (together > kMaxLeaves || depth == kMaxFused || leaves[o.value] == 0) continue;
    leaves[reader->value] = together;
    depths[reader->value] = depth;
    plan.fused_into.emplace(o.value, *reader);
  }
}

}  // namespace pando::lower
