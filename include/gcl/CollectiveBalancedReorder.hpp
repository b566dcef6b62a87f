#ifndef gcl_CollectiveBalancedReorder_hpp
#define gcl_CollectiveBalancedReorder_hpp

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Interval.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gcl {

/// Which element of a rearranged tensor is which of its reference: what hosts need to bring data into remote buffers of replicas, and back.
/// The rearranged tensor has getReplicationFactor() parts, one for each replica, of getTotalElementsPerReplica() elements.
class POPLAR_EXPORT CollectiveBalancedHostRearrangement {
 public:
  unsigned getReplicationFactor() const { return replicationFactor_; }
  void setReplicationFactor(unsigned replicationFactor) { replicationFactor_ = replicationFactor; }
  std::size_t getTotalElementsPerReplica() const { return totalElementsPerReplica_; }
  void setTotalElementsPerReplica(std::size_t totalElementsPerReplica) { totalElementsPerReplica_ = totalElementsPerReplica; }
  /// One after the other, the rearranged tensor's elements that are the reference's. Empty if there is an element map.
  const std::vector<poplar::Interval>& getGatheredToRefSlices() const { return gatheredToRefSlices_; }
  void setGatheredToRefSlices(std::vector<poplar::Interval> gatheredToRefSlices);
  /// Element i of the reference is element elementMap[i] of the rearranged tensor. Empty if there are slices.
  const std::vector<unsigned>& getElementMap() const { return elementMap_; }
  void setElementMap(std::vector<unsigned> elementMap);

  /// Elements of all replicas together, padding with them.
  std::size_t getNumRearrangedTensorElems() const { return totalElementsPerReplica_ * replicationFactor_; }

  /// Brings elements of \p elemByteSize bytes from the reference's order into the rearranged one; padding becomes 0. Sizes are in bytes.
  /// Throws poputil::poplibs_error for buffers that are too small, and for slices or a map beyond the tensor.
  void rearrangeForCollective(const char* in, std::int64_t inSize, char* out, std::int64_t outSize, std::int64_t elemByteSize) const;
  /// The reverse. What \p out has beyond the reference's elements stays.
  void undoRearrangeForCollective(const char* in, std::int64_t inSize, char* out, std::int64_t outSize, std::int64_t elemByteSize) const;

  template <typename T>
  void rearrangeForCollective(const std::vector<T>& in, std::vector<T>& out, std::int64_t elemByteSize = sizeof(T)) const {
    rearrangeForCollective(reinterpret_cast<const char*>(in.data()), static_cast<std::int64_t>(in.size() * sizeof(T)),
                           reinterpret_cast<char*>(out.data()), static_cast<std::int64_t>(out.size() * sizeof(T)), elemByteSize);
  }
  template <typename T>
  void undoRearrangeForCollective(const std::vector<T>& in, std::vector<T>& out, std::int64_t elemByteSize = sizeof(T)) const {
    undoRearrangeForCollective(reinterpret_cast<const char*>(in.data()), static_cast<std::int64_t>(in.size() * sizeof(T)),
                               reinterpret_cast<char*>(out.data()), static_cast<std::int64_t>(out.size() * sizeof(T)), elemByteSize);
  }

 private:
  unsigned replicationFactor_ = 0;
  std::size_t totalElementsPerReplica_ = 0;
  std::vector<poplar::Interval> gatheredToRefSlices_;
  std::vector<unsigned> elementMap_;
};

/// Shares a tensor out to replicas so that none of its elements leaves its tile: each tile's elements are cut into as many parts of equal
/// size as there are replicas, the last ones padded. Replica k's part of the tensor is one part of each tile.
///
///     gcl::CollectiveBalancedReorder cbr(graph, weights, replicas, {"cbr"});
///     Tensor gradients = cbr.createCollectivesTensor(FLOAT, "gradients");       // zero it: padding is reduced, too
///     prog.add(Copy(dW.flatten(), cbr.undoRearrangeForCollective(gradients).flatten()));
///     Tensor part = gcl::reduceScatterCrossReplica(graph, gradients.flatten(), gcl::CollectiveOperator::ADD, prog);
///     Tensor all = cbr.undoRearrangeForCollective(gcl::allGatherCrossReplica(graph, part, prog));  // the shape and order of weights
class POPLAR_EXPORT CollectiveBalancedReorder {
 public:
  /// \p graph has to live as long. \p tensor: the reference, with a tile mapping, of whose elements no values are needed. Parts are
  /// multiples of \p grainSize elements. \p allowElementMap: the host's rearrangement may be a map by elements where that is smaller than
  /// slices. Throws poputil::poplibs_error for 0 replicas or grains of 0 elements, and poplar::invalid_tile_mapping for elements without a
  /// tile.
  CollectiveBalancedReorder(poplar::Graph& graph, poplar::Tensor tensor, unsigned replicationFactor,
                            const poplar::DebugNameAndId& dnai = {}, bool allowElementMap = false, unsigned grainSize = 1);

  /// One replica's part, {elements per replica}: an input of an all-gather, or like the output of a reduce-scatter.
  poplar::Tensor createReplicaSlice(const poplar::Type& type);
  /// The rearranged tensor, {replicas, elements per replica}: an input of a reduce-scatter, or like the output of an all-gather.
  poplar::Tensor createCollectivesTensor(const poplar::Type& type, const std::string& debugPrefix);
  /// The reference's elements in a rearranged tensor of any shape: a view in the reference's shape and order. Throws
  /// poputil::poplibs_error if \p tensor has another number of elements than a rearranged one.
  poplar::Tensor undoRearrangeForCollective(const poplar::Tensor& tensor) const;

  const std::vector<std::size_t>& getReferenceShape() const { return referenceShape_; }
  const CollectiveBalancedHostRearrangement& getHostRearrangement() const { return host_; }

 private:
  // Of a tile: where its parts begin in each replica's, and how long they are.
  struct Part {
    unsigned tile;
    std::size_t begin, size;
  };

  poplar::Graph& graph_;
  poplar::DebugNameAndId dnai_;
  std::vector<std::size_t> referenceShape_;
  std::vector<Part> parts_;
  std::vector<poplar::Interval> slices_;  // as the host's, also if that has a map
  CollectiveBalancedHostRearrangement host_;
};

}  // namespace gcl

#endif
