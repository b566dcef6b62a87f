#include "transform/ops_list.h"

#include <algorithm>

namespace pando::transform {

using namespace ir;

using Edges = std::vector<std::pair<OpId, OpId>>;

namespace {

void unique(Edges& edges) {
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

}  // namespace

void take_out(Module& m, GraphId graph, const std::unordered_set<OpId>& gone) {
  if (gone.empty()) return;
  Graph& g = m.graph(graph);
  std::unordered_map<OpId, std::vector<OpId>> before;
  for (const auto& [first, then] : g.after) before[then].push_back(first);
  // In list order, so that what comes before an op that goes is known already.
  Edges edges;
  std::unordered_map<OpId, std::vector<OpId>> kept_before;
  for (OpId o : g.ops) {
    const auto it = before.find(o);
    if (it == before.end()) continue;
    std::vector<OpId> all;
    for (OpId b : it->second) {
      if (!gone.contains(b)) {
        all.push_back(b);
      } else if (const auto through = kept_before.find(b); through != kept_before.end()) {
        all.insert(all.end(), through->second.begin(), through->second.end());
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (gone.contains(o)) {
      kept_before[o] = std::move(all);
    } else {
      for (OpId b : all) edges.emplace_back(b, o);
    }
  }
  g.after = std::move(edges);
  std::erase_if(g.ops, [&](OpId o) { return gone.contains(o); });
  for (OpId o : gone) m.op(o).erased = true;
}

void move_order(Module& m, GraphId graph, const std::unordered_map<OpId, std::vector<OpId>>& replacement) {
  Graph& g = m.graph(graph);
  const auto ops_for = [&](OpId o) {
    const auto it = replacement.find(o);
    return it == replacement.end() ? std::vector<OpId>{o} : it->second;
  };
  Edges edges;
  for (const auto& [first, then] : g.after) {
    for (OpId a : ops_for(first)) {
      for (OpId b : ops_for(then)) edges.emplace_back(a, b);
    }
  }
  unique(edges);
  g.after = std::move(edges);
}

void replace_values(Module& m, GraphId graph, const std::unordered_map<ValueId, ValueId>& replacement) {
  if (replacement.empty()) return;
  const auto last = [&](ValueId v) {
    for (auto it = replacement.find(v); it != replacement.end(); it = replacement.find(v)) v = it->second;
    return v;
  };
  Graph& g = m.graph(graph);
  for (OpId o : g.ops) {
    for (std::uint32_t i = 0; i < m.op(o).operand_count; ++i) {
      const ValueId v = m.operand(o, i), now = last(v);
      if (now != v) m.set_operand(o, i, now);
    }
  }
  for (ValueId& v : g.outputs) v = last(v);
  for (ValueId& v : g.updated_inputs) v = last(v);
}

}  // namespace pando::transform
