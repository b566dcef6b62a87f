// Which graph a thing belongs to, and the one place that rejects those of another.
#include <pando/ownership.hpp>

#include "facade/state/state.h"

namespace pando::facade {

namespace {

[[noreturn]] void foreign(std::string_view role) {
  fail(ErrorKind::graph_connection_error, "foreign", "{}: it belongs to another graph", role);
}

}  // namespace

poplar::Graph Access::graph(poplar::core::GraphState state) {
  return poplar::Graph(std::make_unique<poplar::core::GraphState>(std::move(state)));
}

poplar::core::GraphState& Access::state(const poplar::Graph& g) {
  if (!g.state_) fail(ErrorKind::poplar_error, "no-graph", "this graph was moved from");
  return *g.state_;
}

void Access::check_owner(const poplar::core::GraphShared& graph, std::uint32_t owner, std::string_view role) {
  if (owner != 0 && owner != graph.graph.serial()) foreign(role);
}

std::uint32_t Access::joint_owner(std::initializer_list<std::uint32_t> owners, std::string_view role) {
  std::uint32_t all = 0;
  for (const std::uint32_t owner : owners) {
    if (owner != 0 && all != 0 && owner != all) foreign(role);
    if (owner != 0) all = owner;
  }
  return all;
}

std::uint32_t Access::owner(poplar::ArrayRef<poplar::Tensor> tensors) {
  std::uint32_t all = 0;
  for (const poplar::Tensor& t : tensors) all = joint_owner({all, owner(t)}, "a tensor of a list");
  return all;
}

const graph::View& Access::view(const poplar::Graph& g, const poplar::Tensor& t, const char* role) {
  const graph::View& v = view(t, role);
  const poplar::core::GraphShared& graph = shared(g);
  if (t.state_->graph.get() != &graph) check_owner(graph, owner(t), fmt::format("{}: {}", role, t.getDebugStr()));
  return v;
}

std::vector<graph::ProgramPtr> Access::nodes(const poplar::Graph& g, poplar::ArrayRef<poplar::program::Program> programs) {
  for (std::size_t i = 0; i < programs.size(); ++i) check_owner(g, owner(programs[i]), fmt::format("program {} of {}", i, programs.size()));
  return nodes(programs);
}

}  // namespace pando::facade

namespace pando {

using facade::Access;

void require_own(const poplar::Graph& graph, const poplar::Tensor& tensor, poplar::StringRef role) {
  Access::check_owner(graph, Access::owner(tensor), std::string(role));
}
void require_own(const poplar::Graph& graph, const poplar::ComputeSet& set, poplar::StringRef role) {
  Access::check_owner(graph, set.graph(), std::string(role));
}
void require_own(const poplar::Graph& graph, const poplar::program::Program& program, poplar::StringRef role) {
  Access::check_owner(graph, Access::owner(program), std::string(role));
}

}  // namespace pando
