#ifndef popops_CollectiveTypes_hpp
#define popops_CollectiveTypes_hpp

#include <gcl/Collectives.hpp>
#include <poplar/Tensor.hpp>
#include <popops/Operation.hpp>

#include <vector>

namespace popops {

using gcl::CollectiveOperator;

/// gcl::toCollectiveOperator; libgcl's, which programs link.
inline CollectiveOperator operationToCollectiveOperator(const Operation& op) { return gcl::toCollectiveOperator(op); }

/// As gcl::Chunk and gcl::Chunks, but types of their own: programs have functions of them by names that gcl has, too, which lookup by
/// argument would find beside theirs.
struct Chunk {
  poplar::Tensor tensor;
  unsigned index = 0;
  unsigned offset = 0;
  Chunk() = default;
  Chunk(poplar::Tensor tensor_, unsigned index_, unsigned offset_) : tensor(tensor_), index(index_), offset(offset_) {}
};
struct Chunks {
  std::vector<Chunk> chunks;
  poplar::Tensor originalInput;
  Chunks() = default;
  /// So many chunks, to be set.
  Chunks(unsigned size) : chunks(size) {}
};

}  // namespace popops

#endif
