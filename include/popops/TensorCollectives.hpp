#ifndef popops_TensorCollectives_hpp
#define popops_TensorCollectives_hpp

#include <gcl/Collectives.hpp>

/// Older names of the collectives between parts of a graph. The functions are libgcl's: programs link it.
namespace popops {

using gcl::Chunk;
using gcl::Chunks;
using gcl::CollectiveOperator;

/// gcl::allReduceWithinReplica.
inline poplar::Tensor allReduce(poplar::Graph& graph, const poplar::Tensor& toReduce, CollectiveOperator op,
                                poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                const poplar::OptionFlags& options = {}) {
  return gcl::allReduceWithinReplica(graph, toReduce, op, prog, debugContext, options);
}

/// gcl::reduceScatterWithinReplica.
inline Chunks reduceScatter(poplar::Graph& graph, const poplar::Tensor& toReduce, CollectiveOperator op, poplar::program::Sequence& prog,
                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  return gcl::reduceScatterWithinReplica(graph, toReduce, op, prog, debugContext, options);
}

/// gcl::allGatherWithinReplica.
inline poplar::Tensor allGather(poplar::Graph& graph, const Chunks& toGather, poplar::program::Sequence& prog,
                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  return gcl::allGatherWithinReplica(graph, toGather, prog, debugContext, options);
}

}  // namespace popops

#endif
