#ifndef popops_TensorCollectives_hpp
#define popops_TensorCollectives_hpp

#include <gcl/Collectives.hpp>

/// Older names of the collectives between parts of a graph. The functions are libgcl's: programs link it.
namespace popops {

using gcl::CollectiveOperator;

/// As gcl::Chunk and gcl::Chunks, but types of their own: programs have functions of them by names that gcl has, too, which lookup by
/// argument would find beside theirs.
struct Chunk {
  poplar::Tensor tensor;
  unsigned index = 0;
  unsigned offset = 0;
};
struct Chunks {
  std::vector<Chunk> chunks;
  poplar::Tensor originalInput;
};

/// gcl::allReduceWithinReplica.
inline poplar::Tensor allReduce(poplar::Graph& graph, const poplar::Tensor& toReduce, CollectiveOperator op,
                                poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {},
                                const poplar::OptionFlags& options = {}) {
  return gcl::allReduceWithinReplica(graph, toReduce, op, prog, debugContext, options);
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
