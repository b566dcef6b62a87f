#include "transform/schedule.h"

#include "ir/schedule.h"

#include <algorithm>
#include <unordered_map>

namespace pando::transform {

using namespace ir;

std::int64_t peak_bytes(const Module& m, GraphId graph) {
  const Graph& g = m.graph(graph);
  std::unordered_map<ValueId, std::size_t> last;
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    for (ValueId v : m.operands(g.ops[i])) last[v] = i;
  }
  for (const auto* kept : {&g.outputs, &g.finals}) {
    for (ValueId v : *kept) last[v] = g.ops.size();
  }
  const auto bytes = [&](ValueId v) { return m.types().bytes_of(m.value(v).type); };
  std::int64_t live = 0;
  for (ValueId v : g.inputs) live += bytes(v);
  std::int64_t peak = live;
  std::vector<std::vector<ValueId>> ends(g.ops.size() + 1);
  for (const auto& [v, i] : last) {
    if (m.value(v).producer.valid()) ends[i].push_back(v);
  }
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    for (ValueId v : m.results(g.ops[i])) live += bytes(v);
    peak = std::max(peak, live);
    for (ValueId v : m.results(g.ops[i])) live -= last.contains(v) ? 0 : bytes(v);
    for (ValueId v : ends[i]) live -= bytes(v);
  }
  return peak;
}

// The greedy order is not always the better one.
void schedule(Module& module) {
  for (std::size_t i = 0; i < module.graph_count(); ++i) {
    const GraphId graph(static_cast<GraphId::rep>(i));
    const std::vector<OpId> before = module.graph(graph).ops;
    const std::int64_t bytes = peak_bytes(module, graph);
    std::vector<OpId> order = least_live_order(module, graph);
    module.graph(graph).ops = std::move(order);
    if (peak_bytes(module, graph) >= bytes) module.graph(graph).ops = before;
  }
}

}  // namespace pando::transform
