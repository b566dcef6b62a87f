#ifndef popops_TensorCollectives_hpp
#define popops_TensorCollectives_hpp

#include <gcl/Collectives.hpp>
#include <popops/CollectiveTypes.hpp>

/// Older names of the collectives between parts of a graph. The functions are libgcl's: programs link it.
namespace popops {

/// gcl::allReduceWithinReplica.
inline poplar::Tensor allReduce(poplar::Graph& graph, const poplar::Tensor& toReduce, CollectiveOperator op,
                                poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                const poplar::OptionFlags& options = {}) {
  return gcl::allReduceWithinReplica(graph, toReduce, op, prog, debugContext, options);
}
inline poplar::Tensor allReduce(poplar::Graph& graph, const poplar::Tensor& toReduce, Operation op, poplar::program::Sequence& prog,
                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  return allReduce(graph, toReduce, operationToCollectiveOperator(op), prog, debugContext, options);
}

/// gcl::reduceScatterWithinReplica.
inline Chunks reduceScatter(poplar::Graph& graph, const poplar::Tensor& toReduce, CollectiveOperator op, poplar::program::Sequence& prog,
                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  const gcl::Chunks parts = gcl::reduceScatterWithinReplica(graph, toReduce, op, prog, debugContext, options);
  Chunks result;
  result.originalInput = parts.originalInput;
  for (const gcl::Chunk& part : parts.chunks) {
    result.chunks.emplace_back();
    result.chunks.back().tensor = part.tensor;
    result.chunks.back().index = part.index;
    result.chunks.back().offset = part.offset;
  }
  return result;
}
inline Chunks reduceScatter(poplar::Graph& graph, const poplar::Tensor& toReduce, Operation op, poplar::program::Sequence& prog,
                            const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  return reduceScatter(graph, toReduce, operationToCollectiveOperator(op), prog, debugContext, options);
}

/// gcl::allGatherWithinReplica.
inline poplar::Tensor allGather(poplar::Graph& graph, const Chunks& toGather, poplar::program::Sequence& prog,
                                const poplar::DebugContext& debugContext = {}, const poplar::OptionFlags& options = {}) {
  gcl::Chunks parts;
  parts.originalInput = toGather.originalInput;
  for (const Chunk& part : toGather.chunks) {
    parts.chunks.emplace_back();
    parts.chunks.back().tensor = part.tensor;
    parts.chunks.back().index = part.index;
    parts.chunks.back().offset = part.offset;
  }
  return gcl::allGatherWithinReplica(graph, parts, prog, debugContext, options);
}

}  // namespace popops

#endif
