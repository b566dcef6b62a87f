#ifndef poplar_TensorRearranger_hpp
#define poplar_TensorRearranger_hpp

#include <poplar/ArrayRef.hpp>
#include <poplar/Export.hpp>
#include <poplar/Interval.hpp>
#include <poplar/Tensor.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace poplar {

/// A permutation of a tensor's elements, in runs of neighbours (Graph::getSimplifyingRearranger). It holds for all tensors of as many
/// elements; throws tensor_creation_error for others.
class POPLAR_EXPORT TensorRearranger {
 public:
  TensorRearranger() : elements_(0) {}

  /// The elements in the new order, one-dimensional.
  Tensor rearrange(const Tensor& t) const;
  /// Back: undoRearrangement(rearrange(t)) is t.flatten().
  Tensor undoRearrangement(const Tensor& t) const;
  /// Where intervals of the elements come to lie, in ascending order.
  std::vector<Interval> rearrange(ArrayRef<Interval> intervals) const;
  std::vector<Interval> undoRearrangement(ArrayRef<Interval> intervals) const;

 private:
  friend class Graph;
  TensorRearranger(std::vector<Interval> runs, std::size_t elements) : runs_(std::move(runs)), elements_(elements) {}
  std::vector<Interval> runs_;  // of the old order, in the new order
  std::size_t elements_;
};

}  // namespace poplar

#endif
