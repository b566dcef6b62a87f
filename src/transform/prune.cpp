#include "transform/prune.h"

#include "ir/op_row.h"
#include "transform/ops_list.h"

#include <algorithm>

namespace pando::transform {

using namespace ir;

namespace {

class Pruner {
 public:
  explicit Pruner(Module& m) : m_(m), effects_(m.graph_count(), -1) {}

  std::size_t run() {
    std::size_t count = 0;
    for (std::size_t g = 0; g < m_.graph_count(); ++g) count += prune(GraphId(static_cast<GraphId::rep>(g)));
    return count;
  }

 private:
  bool has_effect(OpId o) {
    if (m_.row(o).effects != Effects::none) return true;
    const std::vector<GraphId> graphs(m_.graphs(o).begin(), m_.graphs(o).end());
    return std::any_of(graphs.begin(), graphs.end(), [&](GraphId g) { return graph_has_effect(g); });
  }

  bool graph_has_effect(GraphId g) {
    if (effects_[g.index()] < 0) {
      const auto& ops = m_.graph(g).ops;
      effects_[g.index()] = std::any_of(ops.begin(), ops.end(), [&](OpId o) { return has_effect(o); });
    }
    return effects_[g.index()] > 0;
  }

  std::size_t prune(GraphId id) {
    const Graph& g = m_.graph(id);
    std::unordered_set<ValueId> live(g.outputs.begin(), g.outputs.end());
    live.insert(g.updated_inputs.begin(), g.updated_inputs.end());
    std::unordered_set<OpId> gone;
    for (auto it = g.ops.rbegin(); it != g.ops.rend(); ++it) {
      const auto results = m_.results(*it);
      const bool used = std::any_of(results.begin(), results.end(), [&](ValueId v) { return live.contains(v); });
      if (!used && !has_effect(*it)) {
        gone.insert(*it);
      } else {
        live.insert(m_.operands(*it).begin(), m_.operands(*it).end());
      }
    }
    take_out(m_, id, gone);
    return gone.size();
  }

  Module& m_;
  std::vector<int> effects_;
};

}  // namespace

std::size_t prune(Module& module) { return Pruner(module).run(); }

}  // namespace pando::transform
