#ifndef pando_ownership_hpp
#define pando_ownership_hpp

// For libraries of operations: what is given must belong to the graph even where nothing is added to it (an empty tensor, no rows).

#include <poplar/Export.hpp>
#include <poplar/StringRef.hpp>

namespace poplar {
class ComputeSet;
class Graph;
class Tensor;
namespace program {
class Program;
}  // namespace program
}  // namespace poplar

namespace pando {

/// Throw graph_connection_error ("foreign") for what belongs to another graph; `role` says in the message what it was meant for.
POPLAR_EXPORT void require_own(const poplar::Graph& graph, const poplar::Tensor& tensor, poplar::StringRef role);
POPLAR_EXPORT void require_own(const poplar::Graph& graph, const poplar::ComputeSet& set, poplar::StringRef role);
POPLAR_EXPORT void require_own(const poplar::Graph& graph, const poplar::program::Program& program, poplar::StringRef role);

}  // namespace pando

#endif
