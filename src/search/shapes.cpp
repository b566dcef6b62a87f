#include "search/shapes.h"

#include <map>

namespace pando::search {

#define X(name) MeasuredShapes shapes_##name();
#include "shapes_manifest.inc"
#undef X

const MeasuredShapes* measured_shapes_of(const simulate::Cluster& cluster) {
  if (!cluster.measured.shapes.empty()) return &cluster.measured.shapes;
  static const std::map<std::string, MeasuredShapes, std::less<>> all = [] {
    std::map<std::string, MeasuredShapes, std::less<>> rows = {
#define X(name) {#name, shapes_##name()},
#include "shapes_manifest.inc"
#undef X
    };
    for (auto& [name, shapes] : rows) simulate::sort_rows(shapes);
    return rows;
  }();
  const auto found = all.find(cluster.name);
  return found == all.end() ? nullptr : &found->second;
}

StrategyFacts facts_of(const Transformer& model, const simulate::Cluster& cluster, std::int64_t batch, LayerMemo* memo) {
  return {model, cluster, batch, memo, measured_shapes_of(cluster)};
}

}  // namespace pando::search
