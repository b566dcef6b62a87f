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

Violation first_violation(const Transformer& model, const simulate::Cluster& cluster, const Strategy& s) {
  return first_violation(StrategyFacts{model, cluster, nullptr, measured_shapes_of(cluster)}, s);
}

Estimate estimate(const Transformer& model, const simulate::Cluster& cluster, const Strategy& s) {
  return estimate(StrategyFacts{model, cluster, nullptr, measured_shapes_of(cluster)}, s);
}

}  // namespace pando::search
