#include "facade/builtin/builtin_codelets.h"

namespace pando::facade {

void add_builtin_codelets(Library& library) {
  if (library.find(kCycleDifference)) return;
  std::vector<Codelet> codelets = {cycle_difference(), widen()};
  for (EstimatedCodelet& t : transposes()) codelets.push_back(std::move(t.codelet));
  library.add_builtin("pando built-in codelets", std::move(codelets));
}

void provide_builtin_codelets(poplar::core::GraphShared& graph, std::string_view vertex_type) {
  if (vertex_type.substr(0, kRuntimeCodelets.size()) != kRuntimeCodelets || graph.has_runtime_codelets) return;
  graph.has_runtime_codelets = true;
  add_builtin_codelets(graph.graph.library());
  for (EstimatedCodelet& t : transposes()) graph.estimators.try_emplace(t.codelet.name, std::move(t.cost));
}

}  // namespace pando::facade
